// How fast whole grids are simulated, faults and checks of everything included: on one core, as a worker of
// `mutirao sim swarm` does.
// By the processor time of the thread: other work on the machine does not change what a core can do.
import { drawScenario, runWorld } from '@mutirao/sim';
import { atLeast, option, plain, report, type Figure } from './harness.ts';

const worlds = option('worlds', 400);
const warmUp = 20;

function measure(): Figure[] {
  for (let seed = 0; seed < warmUp; seed += 1) runWorld(drawScenario(String(seed)));
  let [simulated, turns, failed] = [0, 0, 0];
  const [start, startCpu] = [performance.now(), process.threadCpuUsage()];
  for (let seed = 0; seed < worlds; seed += 1) {
    const { duration, turnCount, failure } = runWorld(drawScenario(String(seed)));
    simulated += duration;
    turns += turnCount;
    if (failure !== undefined) failed += 1;
  }
  const { user, system } = process.threadCpuUsage(startCpu);
  const seconds = (user + system) / 1e6;
  const elapsed = (performance.now() - start) / 1000;
  return [
    atLeast('simulated grid-hours in a minute of one core', simulated / 60_000 / seconds, 'h/min', 1000),
    plain('the same, by the clock', simulated / 60_000 / elapsed, 'h/min'),
    plain('worlds', worlds / seconds, '/s'),
    plain('turns of their processes, each with all checks', turns / seconds, '/s'),
    plain('worlds that failed', failed, `of ${worlds}`),
  ];
}

report('swarm', measure());
