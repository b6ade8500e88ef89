"""Hand it a work order, get back a draft pull request with proof."""
