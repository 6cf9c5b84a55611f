"""For every test: hypothesis reproducible (derandomised) and without a clock, and a Ctrl-C that is heard.

`nox -s quick` asks for the profile of its name: the same tests, a quarter of the examples.
"""

import signal

from hypothesis import settings

settings.register_profile("dp-oracle", deadline=None, derandomize=True, max_examples=60, print_blob=True)
settings.register_profile("quick", settings.get_profile("dp-oracle"), max_examples=15)
settings.load_profile("dp-oracle")

# A suite that a shell runs in the background is started with Ctrl-C ignored, and so are the commands that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
