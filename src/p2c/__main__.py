"""`python -m p2c` is the command `p2c`."""

from p2c.cli import main

if __name__ == "__main__":
    main()
