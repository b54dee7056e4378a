"""An audit: who of everybody has no way, and whether groups differ in it.

One plan is about one person; an audit is about all. Shares come with exact intervals, and differences that chance explains are
called that.
"""

import p2c

audit = p2c.Problem.example("german").audit(
    p2c.datasets.load_frame("german"), by=["age:<30,30-50,>50", "housing"]
)
print(f"{'':28}{'refused':>8}{'with a way':>12}{'without':>9}")
for each in audit.tallies[:7]:
    name = str(each.group) or "everybody"
    print(f"{name:28}{each.refused.count:8}{each.found:12}{each.stuck.count:9}")
