"""Models read into sums of tables, trees and lines over the features, instead of only being asked."""

from p2c._learn.model.additive import AdditiveScore as AdditiveScore
from p2c._learn.model.reading import NotRead as NotRead
from p2c._learn.model.reading import Read as Read
from p2c._learn.model.reading import read as read
