"""PrusaLink: its web API, as 0.8.1 on a Raspberry Pi has it and the firmware of newer printers.

Facts of the first come from running it. Facts of the second, called Buddy after its boards (MINI,
MK3.5, MK3.9, MK4, XL, CORE One), come from its published source and recorded answers: none was at
hand. What is guessed about it says so where it is used.
"""
