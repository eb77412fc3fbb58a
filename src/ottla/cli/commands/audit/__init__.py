"""`ottla audit`: is every record where it should be, once and unchanged?"""
