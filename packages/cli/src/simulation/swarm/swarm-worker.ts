import { closeSync, openSync, writeFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

import {
  drawScenario,
  runWorld,
  shrinkScenario,
  reportStory,
  traceTurn,
  withFailures,
  type FailureLog,
  type Scenario,
  type WorldFailure,
  type WorldStory,
  type WorldTurn,
} from '@mutirao/sim';

/** What a worker is started with. */
export interface SwarmWorkerSetup {
  /** The world to run with other seeds; left out, worlds are drawn from their seeds. */
  readonly scenario: Scenario | undefined;
  /** How lab machines fail; left out, as their worlds say. */
  readonly failures: FailureLog | undefined;
}

/** What a worker is asked to do. */
export type SwarmOrder =
  | {
      readonly kind: 'run';
      readonly seeds: readonly string[] /** Gets a line per turn. */;
      readonly trace: string | undefined;
    }
  | {
      readonly kind: 'explain';
      readonly seed: string;
      readonly failure: WorldFailure;
      readonly triesMax: number;
      readonly linesMax: number;
    };

/** What became of the world of a seed. */
export interface WorldOutcome {
  readonly seed: string;
  readonly failure: WorldFailure | undefined;
  readonly turnCount: number;
  /** Simulated. */
  readonly durationMs: number;
}

/** How a world fails, in its smallest form. */
export interface FailureExplanation {
  readonly seed: string;
  readonly failure: WorldFailure;
  readonly scenario: Scenario;
  readonly smallestFailure: WorldFailure;
  readonly tryCount: number;
  readonly story: WorldStory;
}

/** What a worker answers to an order. */
export type SwarmAnswer =
  | { readonly kind: 'ran'; readonly outcomes: readonly WorldOutcome[] }
  | { readonly kind: 'explained'; readonly explanation: FailureExplanation };

const { scenario: given, failures } = workerData as SwarmWorkerSetup;
const traceBufferMax = 1 << 20;

parentPort?.on('message', (order: SwarmOrder) => {
  parentPort?.postMessage(carryOut(order));
});

function carryOut(order: SwarmOrder): SwarmAnswer {
  if (order.kind === 'explain') return { kind: 'explained', explanation: explain(order) };
  return { kind: 'ran', outcomes: order.seeds.map((seed) => runSeed(seed, order.trace)) };
}

function getScenario(seed: string): Scenario {
  const scenario = given === undefined ? drawScenario(seed) : { ...given, seed };
  return failures === undefined ? scenario : withFailures(scenario, failures);
}

function runSeed(seed: string, trace: string | undefined): WorldOutcome {
  const writer = trace === undefined ? undefined : new TraceWriter(trace);
  const { failure, turnCount, duration } = runWorld(
    getScenario(seed),
    writer === undefined
      ? undefined
      : (turn) => {
          writer.add(turn);
        },
  );
  writer?.close();
  return { seed, failure, turnCount, durationMs: duration };
}

function explain({
  seed,
  failure,
  triesMax,
  linesMax,
}: Extract<SwarmOrder, { readonly kind: 'explain' }>): FailureExplanation {
  const run = (candidate: Scenario): WorldFailure | undefined => runWorld(candidate).failure;
  const {
    scenario,
    failure: smallestFailure,
    tryCount,
  } = shrinkScenario(getScenario(seed), failure, { run, triesMax });
  return {
    seed,
    failure,
    scenario,
    smallestFailure,
    tryCount,
    story: reportStory(scenario, smallestFailure, linesMax),
  };
}

/** Writes turns to a file as they come, many at a time. */
class TraceWriter {
  readonly #file: number;
  #text = '';

  constructor(path: string) {
    this.#file = openSync(path, 'w');
  }

  add(turn: WorldTurn): void {
    this.#text += `${traceTurn(turn)}\n`;
    if (this.#text.length >= traceBufferMax) this.#flush();
  }

  #flush(): void {
    writeFileSync(this.#file, this.#text);
    this.#text = '';
  }

  close(): void {
    this.#flush();
    closeSync(this.#file);
  }
}
