"""Designs: which scheme, with which parameters, serves best under which condition.

The function is `clift.design`; its parts are imported by their modules.
"""
