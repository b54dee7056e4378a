"""A problem and its model in one folder, protected by checksums."""

from p2c._folder.store import accept_edit as accept_edit
from p2c._folder.store import open_folder as open_folder
from p2c._folder.store import outline_folder as outline_folder
from p2c._folder.store import save_folder as save_folder
