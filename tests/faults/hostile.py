"""Trainings that misbehave, by accident rather than by malice, each at some moment in the middle of an audit.

What they release is far from private, or does not depend on the data at all: so that it is known which verdict would be
wrong. A function does its trick in call 30, a program with its fifth request, or in every answer.
"""

from __future__ import annotations

FUNCTION = """
import atexit, contextlib, ctypes, decimal, fcntl, gc, io, itertools, json, logging, multiprocessing, os, random
import resource, signal, subprocess, sys, tempfile, threading, time, warnings
import numpy as np
calls, held = 0, []

def pipes():
    places = {n: f"/proc/self/fd/{n}" for n in range(3, 64)}
    return [n for n, place in places.items() if os.path.exists(place) and os.readlink(place).startswith("pipe")]

def writable():
    return [n for n in pipes() if fcntl.fcntl(n, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY]

def forever(*_):
    while True:
        time.sleep(0.001)
        print("x" * 100, flush=True)

def square(x):
    return x * x

def thread(work, *words):
    one = threading.Thread(target=work, args=words, daemon=True)
    one.start()
    return one

def fn(dataset, seed):
    global calls
    calls += 1
    released = LEAK * dataset[1].sum() + np.random.default_rng(seed).normal()
    if calls == 30:
        TRICK
    return released
"""

FUNCTIONS = {
    "a thread prints for ever": "thread(forever)",
    "a thread writes to descriptor 1": "thread(os.write, 1, b'{}\\n' * 1000).join()",
    "a thread writes where it answers, later": (
        "threading.Timer(0.2, lambda: [os.write(p, b'{}\\n') for p in writable()]).start()"
    ),
    "writes half a line where it answers": "[os.write(p, b'{\"alive\"') for p in writable()]",
    "writes an answer of its own": (
        "[os.write(p, json.dumps({'id': 3, 'dataset': 0, 'pid': os.getpid(), 'shape': [1]}).encode() + b'\\n'"
        " + bytes(8)) for p in writable()]"
    ),
    "writes a megabyte where it answers": "thread(lambda: [os.write(p, bytes(2**20)) for p in writable()])",
    "reads what it is sent": "[os.read(p, 10) for p in pipes() if p not in writable()]",
    "prints without end of line": "print('x' * 10**6, end='', flush=True)",
    "prints to standard error without end": "sys.stderr.write('y' * 10**7)",
    "logs a lot": "[logging.warning('epoch %d', n) for n in range(10**4)]",
    "warns a lot": "[warnings.warn(str(n)) for n in range(10**4)]",
    "closes standard descriptors": "[os.close(n) for n in (0, 1, 2)]",
    "closes all descriptors": "os.closerange(3, 256)",
    "closes what it answers by": "[os.close(p) for p in writable()]",
    "puts a file where it answers": "[os.dup2(os.open(os.devnull, os.O_RDWR), p) for p in writable()]",
    "closes sys.stdout": "sys.stdout.close()",
    "replaces sys.stdout": "sys.stdout = io.StringIO()",
    "prints into a file from here on": "held.append(contextlib.redirect_stdout(io.StringIO())); held[0].__enter__()",
    "changes directory": "os.chdir('/')",
    "loses its directory": "d = tempfile.mkdtemp(); os.chdir(d); os.rmdir(d)",
    "clears its environment": "os.environ.clear()",
    "deletes its own file": "os.remove(__file__)",
    "ignores all signals": "[signal.signal(n, signal.SIG_IGN) for n in (1, 2, 3, 15)]",
    "handles signals by raising": "signal.signal(signal.SIGTERM, square); signal.signal(signal.SIGCHLD, square)",
    "an alarm ends it": "signal.alarm(1); time.sleep(0.01)",
    "an alarm raises in it": (
        "signal.signal(signal.SIGALRM, lambda *_: 1 / 0); signal.setitimer(signal.ITIMER_REAL, 0.2)"
    ),
    "interrupts itself": "os.kill(os.getpid(), signal.SIGINT)",
    "terminates itself": "os.kill(os.getpid(), signal.SIGTERM)",
    "kills itself": "os.kill(os.getpid(), signal.SIGKILL)",
    "stops itself": "os.kill(os.getpid(), signal.SIGSTOP)",
    "aborts": "os.abort()",
    "terminates its parent": "os.kill(os.getppid(), signal.SIGTERM)",
    "kills its parent": "os.kill(os.getppid(), signal.SIGKILL)",
    "kills its group": "os.killpg(0, signal.SIGKILL)",
    "daemonises": "os.fork() and os._exit(0) or os.setsid()",
    "daemonises twice": "os.fork() and os._exit(0) or os.setsid() and 0 or os.fork() and os._exit(0)",
    "leaves a daemon behind": "os.fork() or (os.setsid(), os.fork() and os._exit(0), time.sleep(600))",
    "forks, and both go on": "os.fork()",
    "forks five times": "[os.fork() for _ in range(5)]",
    "forks, and the child prints": "os.fork() or forever()",
    "forks, and the child holds all pipes": "os.fork() or time.sleep(600)",
    "forks in a thread": "thread(os.fork).join()",
    "starts a program and forgets it": "subprocess.Popen(['sleep', '600'], start_new_session=True)",
    "starts a program that reads its pipes": "subprocess.Popen(['cat'], close_fds=False)",
    "starts a pool": "multiprocessing.get_context('fork').Pool(2).map(square, range(10))",
    "starts a process that stays": (
        "multiprocessing.get_context('fork').Process(target=time.sleep, args=(600,)).start()"
    ),
    "becomes another program": "os.execvp('sleep', ['sleep', '600'])",
    "becomes itself again": "os.execv(sys.executable, [sys.executable, __file__])",
    "exits in the end, by os._exit": "atexit.register(os._exit, 0)",
    "exits at once, by os._exit": "os._exit(0)",
    "exits by sys.exit": "sys.exit(0)",
    "exits in a thread": "thread(sys.exit, 3).join()",
    "a thread ends the process later": "threading.Timer(0.2, os._exit, (0,)).start()",
    "raises what is no exception": "raise GeneratorExit",
    "raises an interrupt": "raise KeyboardInterrupt",
    "recurses without end": "(f := lambda: f())()",
    "lowers the limit of recursion": "sys.setrecursionlimit(60)",
    "says another process number": "os.getpid = lambda: 1",
    "breaks json": "json.dumps = lambda *_, **__: '{}'",
    "breaks numpy's error state": "np.seterr(all='raise')",
    "breaks numpy's conversion": "np.ascontiguousarray = lambda array: array[::-1]",
    "switches off the collector": "gc.disable(); gc.freeze()",
    "limits its own descriptors": "resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))",
    "limits its own processor time": (
        "resource.setrlimit(resource.RLIMIT_CPU, (1, 1)); sum(itertools.repeat(1))"
    ),
    "sleeps for a while": "time.sleep(0.5)",
    "sleeps beyond its time": "time.sleep(600)",
    "holds Python's lock": "ctypes.PyDLL(None).sleep(600)",
    "takes all memory": "held.append(bytearray(10**10))",
    "its children take all memory": (
        "[os.fork() or (bytearray(b'x' * (120 * 2**20)), time.sleep(600)) for _ in range(6)]; time.sleep(600)"
    ),
    "shifts by one from here on": "held.append(released); released = 0.0",
    "returns the seed's copy": "released = np.longdouble(released)",
    "returns a list in a list": "released = [[float(released)]]",
    "returns nothing once": "released = None",
    "returns a generator": "released = (x for x in [released])",
    "returns a string of a number": "released = str(released)",
    "returns not a number": "released = float('nan')",
    "works in place on its data": "dataset[0][:] = 7.0; dataset[1][:] = 7.0",
    "seeds all generators": "np.random.seed(0); random.seed(0); decimal.getcontext().prec = 1",
}

PROGRAM = """
import json, os, random, signal, subprocess, sys, threading, time
datasets, requests, kept = {}, 0, []
line = sys.stdin.readline()
while line:
    request = json.loads(line)
    requests += 1
    if "labels" in request:
        datasets[request["dataset"]] = request["labels"]
    shift = LEAK * sum(datasets[request["dataset"]])
    said = [shift + random.Random(seed).gauss(0, 1) for seed in request["seeds"]]
    answer = {"id": request["id"], "dataset": request["dataset"], "releases": said}
    def say(text, end="\\n"):
        sys.stdout.write(text + end)
        sys.stdout.flush()
    if TIME:
        TRICK
    else:
        say(json.dumps(answer))
    line = sys.stdin.readline()
"""

ALWAYS, ONCE = "True", "requests == 5"
PROGRAMS = {
    "answers in two writes": (ALWAYS, "t = json.dumps(answer); say(t[:9], ''); time.sleep(0.001); say(t[9:])"),
    "answers byte by byte": (ONCE, "[os.write(1, bytes([b])) for b in json.dumps(answer).encode() + b'\\n']"),
    "two answers in one write": (ONCE, "t = json.dumps(answer) + '\\n'; os.write(1, (t + t).encode())"),
    "answers late, after its time": (ONCE, "time.sleep(8); say(json.dumps(answer))"),
    "answers a little late": (ONCE, "time.sleep(0.3); say(json.dumps(answer))"),
    "answers, and once more later": (
        ONCE, "say(json.dumps(answer)); threading.Timer(0.1, say, (json.dumps(answer),)).start()",
    ),
    "answers before it is asked": (
        ONCE, "say(json.dumps(answer)); say(json.dumps({**answer, 'id': request['id'] + 1}))",
    ),
    "a thread writes lines of its own": (
        ONCE, "threading.Thread(target=lambda: [say('epoch') or time.sleep(0.01) for _ in range(99)]).start(); "
        "say(json.dumps(answer))",
    ),
    "ends its lines as on Windows": (ALWAYS, "say(json.dumps(answer), '\\r\\n')"),
    "begins with an empty line": (ONCE, "say(''); say(json.dumps(answer))"),
    "begins with a mark": (ONCE, "say('\\ufeff' + json.dumps(answer))"),
    "answers over many lines": (ONCE, "say(json.dumps(answer, indent=1))"),
    "gives its number as text": (ONCE, "say(json.dumps({**answer, 'id': str(request['id'])}))"),
    "gives its number twice": (ONCE, "say(json.dumps(answer)[:-1] + ', \"id\": 0}')"),
    "gives an old number": (ONCE, "say(json.dumps({**answer, 'id': 1}))"),
    "gives the other data set": (ONCE, "say(json.dumps({**answer, 'dataset': 1 - answer['dataset']}))"),
    "takes the other data set": (
        "requests > 5", "o = LEAK * sum(datasets[1 - request['dataset']]) - shift; "
        "say(json.dumps({**answer, 'releases': [x + o for x in said]}))",
    ),
    "remembers one data set only": (
        "len(datasets) > 1", "o = LEAK * sum(datasets[0]) - shift; "
        "say(json.dumps({**answer, 'releases': [x + o for x in said]}))",
    ),
    "answers in another order": (ONCE, "say(json.dumps({**answer, 'releases': said[::-1]}))"),
    "answers one model twice": (ALWAYS, "say(json.dumps({**answer, 'releases': said[:1] * len(said)}))"),
    "shifts its models by one": (
        ALWAYS, "kept += said; say(json.dumps({**answer, 'releases': ([0.0] + kept)[-len(said) - 1:-1]}))",
    ),
    "repeats its last answer": (
        "requests > 5", "kept = kept or said; say(json.dumps({**answer, 'releases': (kept * 99)[:len(said)]}))",
    ),
    "gives too few": (ONCE, "say(json.dumps({**answer, 'releases': said[1:]}))"),
    "gives too many": (ONCE, "say(json.dumps({**answer, 'releases': said + said}))"),
    "gives numbers as text": (ONCE, "say(json.dumps({**answer, 'releases': [str(x) for x in said]}))"),
    "gives infinity": (ONCE, "say(json.dumps({**answer, 'releases': [float('inf')] * len(said)}))"),
    "gives null": (ONCE, "say(json.dumps({**answer, 'releases': [None] * len(said)}))"),
    "becomes itself again after an answer": (
        ONCE, "say(json.dumps(answer)); os.execv(sys.executable, [sys.executable, *sys.argv])",
    ),
    "closes its output": (ONCE, "say(json.dumps(answer)); os.close(1)"),
    "closes its input": (ONCE, "say(json.dumps(answer)); os.close(0)"),
    "ends after an answer": (ONCE, "say(json.dumps(answer)); os._exit(0)"),
    "ends in half an answer": (ONCE, "say(json.dumps(answer)[:20], ''); os._exit(0)"),
    "daemonises after an answer": (ONCE, "say(json.dumps(answer)); os.fork() and os._exit(0); os.setsid()"),
    "forks, and both answer": (ONCE, "os.fork(); say(json.dumps(answer))"),
    "forks after an answer": (ONCE, "say(json.dumps(answer)); os.fork()"),
    "leaves a child that holds its output": (ONCE, "say(json.dumps(answer)); os.fork() or time.sleep(600)"),
    "starts a program that answers, too": (ONCE, "subprocess.run(['echo', '{}']); say(json.dumps(answer))"),
    "starts a program that reads, too": (
        ONCE, "subprocess.Popen(['cat'], stdout=subprocess.DEVNULL, start_new_session=True); say(json.dumps(answer))",
    ),
    "prints its progress": (ALWAYS, "say('epoch 1 of 1'); say(json.dumps(answer))"),
    "floods standard error": (ALWAYS, "sys.stderr.write('z' * 10**5 + '\\n'); say(json.dumps(answer))"),
    "ignores signals": (ONCE, "signal.signal(signal.SIGTERM, signal.SIG_IGN); say(json.dumps(answer))"),
    "changes directory after an answer": (ONCE, "os.chdir('/'); say(json.dumps(answer))"),
    "stops, and says nothing": (ONCE, "os.kill(os.getpid(), signal.SIGSTOP)"),
    "answers with an error": (ONCE, "say(json.dumps({'id': request['id'], 'error': 'no luck'}))"),
    "answers without end": (ONCE, "[say('x' * 10**6, '') for _ in range(10**6)]"),
    "says nothing more": (ONCE, "time.sleep(600)"),
}

SAMPLE = (
    "a thread prints for ever", "writes an answer of its own", "forks, and the child holds all pipes",
    "kills its parent", "its children take all memory", "leaves a daemon behind", "two answers in one write",
    "shifts its models by one", "remembers one data set only", "becomes itself again",
)
"""Kinds of either table that are tried on every pull request."""


HARMLESS = (
    "a thread prints for ever", "a thread writes to descriptor 1", "prints without end of line",
    "prints to standard error without end", "logs a lot", "warns a lot", "closes sys.stdout", "replaces sys.stdout",
    "prints into a file from here on", "changes directory", "loses its directory", "clears its environment",
    "deletes its own file", "ignores all signals", "leaves a daemon behind", "forks, and both go on",
    "forks five times", "forks, and the child prints", "forks in a thread", "starts a program and forgets it",
    "starts a pool", "starts a process that stays", "exits in the end, by os._exit", "exits in a thread",
    "switches off the collector", "sleeps for a while", "works in place on its data", "seeds all generators",
    "answers in two writes", "answers byte by byte", "answers a little late", "ends its lines as on Windows",
    "floods standard error", "ignores signals", "changes directory after an answer",
)
"""Kinds that do no harm to their audit, which must come to the right verdict: INVALID would be too easy."""


def function(trick: str, leak: float) -> str:
    """The text of a function with a trick."""
    return FUNCTION.replace("LEAK", repr(leak)).replace("TRICK", trick)


def program(time: str, trick: str, leak: float) -> str:
    """The text of a program with a trick."""
    return PROGRAM.replace("TIME", time).replace("TRICK", trick).replace("LEAK", repr(leak))
