"""The application: menus in a browser over the verbs of the command line.

Forms are made from the verbs' own options, work is done by the verbs themselves in a process of
their own, and results are shown from what they wrote. No rule of calibration lives here.
"""
