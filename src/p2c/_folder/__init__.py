"""A problem with its model in one folder: written whole, read again only as it was written, or as an edit was accepted."""

from p2c._folder.store import accept_edit as accept_edit
from p2c._folder.store import open_folder as open_folder
from p2c._folder.store import outline_folder as outline_folder
from p2c._folder.store import save_folder as save_folder
