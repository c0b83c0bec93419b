import test from 'ava';
import fc from 'fast-check';
import {
  conservativeBackfilling,
  easyBackfilling,
  firstComeFirstServed,
  type TracedRequest,
} from '@mutirao/core/queue';
import { findHeuristic, heuristicNames, type RequestHeuristic } from '@mutirao/core/requests';
import { Prng } from '@mutirao/core/shared';
import { runGrid, SimulatedResource } from '@mutirao/sim';
import { runs } from '@mutirao/testkit';

const processors = 16;
const minute = 60_000;

const scene = fc.record({
  policy: fc.constantFrom(
    conservativeBackfilling('start-now'),
    conservativeBackfilling('reinsert'),
    easyBackfilling,
    firstComeFirstServed,
  ),
  locals: fc.array(
    fc.record({
      submittedAt: fc.integer({ min: 0, max: 400 }),
      width: fc.integer({ min: 1, max: processors }),
      walltime: fc.integer({ min: 1, max: 300 }),
      share: fc.double({ min: 0.1, max: 1, noNaN: true }),
    }),
    { maxLength: 12 },
  ),
  tasks: fc.integer({ min: 1, max: 80 }),
  mean: fc.integer({ min: 2, max: 60 }),
  requestsMax: fc.integer({ min: 1, max: 6 }),
  seed: fc.integer({ min: 0, max: 1_000_000 }),
});
type Scene = typeof scene extends fc.Arbitrary<infer T> ? T : never;

/** What happens to a job of tasks from half to one and a half times their mean, one line for each event. */
function report({ policy, locals, tasks, mean, requestsMax, seed }: Scene, heuristic: RequestHeuristic): string[] {
  const trace = locals
    .map(
      ({ submittedAt, width, walltime, share }): TracedRequest => ({
        submittedAt: submittedAt * minute,
        width,
        walltime: walltime * minute,
        runTime: Math.ceil(share * walltime * minute),
      }),
    )
    .sort((one, other) => one.submittedAt - other.submittedAt);
  const rng = new Prng(`seed ${seed}`);
  const times = rng.fork('tasks');
  const lines: string[] = [];
  runGrid(
    [new SimulatedResource({ policy, processors, trace })],
    [
      {
        submittedAt: 50 * minute,
        taskTimes: Array.from({ length: tasks }, () => Math.ceil(mean * minute * (0.5 + times.fraction()))),
        picks: rng.fork('picks'),
        heuristic,
        releasesIdle: true,
        limits: [
          { processors, requestsMax, widthMax: processors, walltimeMax: 120 * minute, walltimeGranularity: 1000 },
        ],
      },
    ],
    {
      trace: (line) => {
        lines.push(line);
      },
      until: 100 * 24 * 60 * minute,
    },
  );
  return lines;
}

/** What happened to requests at one instant. */
interface InstantRecord {
  readonly at: string;
  /** Shapes that were asked for, by the numbers of the requests. */
  readonly shapes: Map<string, string>;
  /** Shapes that were asked for and taken out. */
  readonly released: Set<string>;
}

/** The first shape that was asked for, released and asked for again at one instant; undefined where there is none. */
function findLoop(lines: readonly string[]): string | undefined {
  let record: InstantRecord = { at: '', shapes: new Map(), released: new Set() };
  for (const line of lines) {
    const at = line.slice(0, line.indexOf(' '));
    if (at !== record.at) record = { at, shapes: new Map(), released: new Set() };
    const asked = /asks resource 0 for (?<shape>.*) as request (?<id>\d+)$/u.exec(line)?.groups;
    if (asked !== undefined && record.released.has(asked['shape'] as string)) return `at ${at} ms: ${asked['shape']}`;
    if (asked !== undefined) record.shapes.set(asked['id'] as string, asked['shape'] as string);
    const released = record.shapes.get(/takes out request (\d+) /u.exec(line)?.[1] ?? '');
    if (released !== undefined) record.released.add(released);
  }
  return undefined;
}

test('no heuristic asks again at one instant for a request that was released at that instant', (t) => {
  let count = 0;
  fc.assert(
    fc.property(scene, fc.constantFrom(...heuristicNames, ...Array.from({ length: 10 }, () => 'finish')), (s, name) => {
      const lines = report(s, findHeuristic(name) as RequestHeuristic);
      count += lines.length;
      const loop = findLoop(lines);
      if (loop !== undefined) throw new Error(`${name} ${loop}`);
    }),
    runs(20_261_127, 300),
  );
  t.true(count > 1500, `${count} events`);
});
