"""Python functions on the grid, step by step. Run it whole, or cell by cell (`# %%`) in an editor or a notebook."""

# %% Connect: MUTIRAO_HOME or ~/.mutirao names the grid ("mutirao up" starts one).
import mutirao

grid = mutirao.connect()
print("processors:", grid.processors() > 0)


# %% Map a function over inputs. It travels to the machines, and so do functions that it calls.
def simulate(seed, scale=1):
    import random

    return scale * random.Random(seed).random()


with grid.executor(label="tutorial") as executor:
    results = list(executor.map(simulate, range(1000)))
print("results:", len(results))

# %% One call is a future. It knows where it ran and what it printed.
with grid.executor() as executor:
    future = executor.submit(simulate, 7, scale=10)
    print("one call:", round(future.result(), 3), "on", future.machine.partition("/")[0])


# %% An exception of the function is raised here, with the traceback of the other machine as its cause.
def fails(x):
    print("dividing", x)
    return 1 / x


with grid.executor() as executor:
    future = executor.submit(fails, 0)
    try:
        future.result()
    except ZeroDivisionError as error:
        print("failed:", error, "- it printed:", future.stdout().strip())

# %% Leave, and come back: any program has the same futures by the number of the job.
executor = grid.executor()
executor.map_futures(simulate, range(100))
[number] = executor.detach()
again = mutirao.connect().attach(number)
print("attached:", sum(1 for future in mutirao.as_completed(again.futures()) if future.result() < 1))

# %% Commands, over all combinations of parameters.
job = grid.bag("echo {seed} {beta}", mutirao.product(seed=range(2), beta=[0.1, 0.2]))
job.wait()
print("commands:", sorted(task.stdout.strip() for task in job))
