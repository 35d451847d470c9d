"""Two networks on this machine, and a line between them that can be made bad.

The kernel's own TCP runs at both ends; what a packet meets on its way is decided by a program of
ours, so no traffic-shaping module is needed. Linux, and root, for network namespaces.
"""
