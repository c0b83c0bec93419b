import type { Duration, Instant } from '@mutirao/core/shared';
import { healingMax, throttledTime } from './check-scenario.ts';
import type { WorldTurn } from './machine-process.ts';
import type { Scenario } from './scenario.ts';
import { Watch } from './checks/watch.ts';
import { Storm } from './storm.ts';
import { findUnfinished } from './unfinished.ts';
import type { WorldEvent } from './world-event.ts';
import { World, worldStart } from './world.ts';

/** What went wrong in a world. */
export interface WorldFailure {
  /** True time since the world's start. */
  readonly after: Duration;
  readonly phase: 'storm' | 'healing';
  readonly message: string;
  /** Where the error was thrown; empty without an error. */
  readonly stack: string;
}

/** What became of a world. */
export interface WorldResult {
  readonly failure: WorldFailure | undefined;
  /** Of every turn of every process, in order, and what it commanded: the same scenario, the same digest. */
  readonly digest: string;
  readonly turnCount: number;
  /** Simulated time until all was done. */
  readonly duration: Duration;
  /** Runs of tasks, and results taken. */
  readonly runCount: number;
  readonly acceptedCount: number;
}

const lookEvery: Duration = 10_000;

/**
 * Runs a world: a storm in which nothing wrong may happen, then all is mended and everything must come to its end.
 *
 * Invariants of every machine are checked after each of its turns, and the world's own at the moment of each action.
 *
 * @param onTurn called with every turn.
 * @param onEvent called with other events of processes.
 */
export function runWorld(
  scenario: Scenario,
  onTurn?: (turn: WorldTurn) => void,
  onEvent?: (event: WorldEvent) => void,
): WorldResult {
  const digest = new TurnDigest();
  const world: World = new World(
    scenario,
    (turn) => {
      digest.add(turn);
      onTurn?.(turn);
      watch.receive(turn);
    },
    {
      onCommitted: (process) => {
        watch.onCommitted(process);
      },
      ...(onEvent === undefined ? {} : { onEvent }),
    },
  );
  const watch = new Watch(world);
  let phase: WorldFailure['phase'] = 'storm';
  let failure: WorldFailure | undefined;
  try {
    new Storm(world);
    world.kernel.runUntil(worldStart + scenario.stormDuration);
    phase = 'healing';
    heal(world);
    const left = waitForEnd(world);
    if (left.length > 0)
      failure = {
        after: world.kernel.now - worldStart,
        phase,
        message: `not at its end: ${left.join('; ')}`,
        stack: '',
      };
    else watch.end();
  } catch (error) {
    const { message, stack = '' } = error instanceof Error ? error : new Error(String(error));
    failure = { after: world.kernel.now - worldStart, phase, message, stack };
  }
  return {
    failure,
    digest: digest.text,
    turnCount: digest.turnCount,
    duration: world.kernel.now - worldStart,
    runCount: world.truth.runCount,
    acceptedCount: world.promises.acceptedCount,
  };
}

function heal(world: World): void {
  world.isStormy = false;
  world.report('WorldMended', []);
  world.network.heal({ ...world.scenario.network, lossProbability: 0, duplicateProbability: 0 });
  for (const { process } of world.processes()) process.fallAt(undefined);
  for (const node of world.nodes()) {
    if (node.disk !== undefined) node.disk.isFull = false;
    node.downUntil = 0;
    node.start();
  }
}

/** Goes on until nothing is left to do; returns what is left when that takes too long. */
function waitForEnd(world: World): string[] {
  const end: Instant = world.kernel.now + healingMax + throttledTime(world.scenario);
  let left = findUnfinished(world);
  while (left.length > 0 && world.kernel.now < end) {
    world.resetAllTrust();
    world.undrainAll();
    world.kernel.runUntil(world.kernel.now + lookEvery);
    left = findUnfinished(world);
  }
  return left;
}

/** A hash of each turn's time, process, inputs and commands; `traceTurn` prints the rest. */
class TurnDigest {
  #high = 0x811c9dc5;
  #low = 0x01000193;
  turnCount = 0;

  get text(): string {
    return [this.#high, this.#low].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  }

  add({ at, process, inputs, changes, commands }: WorldTurn): void {
    this.turnCount += 1;
    this.#addText(`${at} ${process} ${inputs.length} ${changes.length}`);
    for (const command of commands) this.#addText(JSON.stringify(inNumbers(command)));
  }

  #addText(text: string): void {
    let [high, low] = [this.#high, this.#low];
    for (let index = 0; index < text.length; index += 1) {
      const letter = text.charCodeAt(index);
      high = Math.imul(high ^ letter, 0x01000193);
      low = Math.imul(low + letter, 0x9e3779b1) ^ (low >>> 15);
    }
    this.#high = high;
    this.#low = low;
  }
}

/** What a command is about; the state of a replica that it carries is left out. */
function inNumbers(command: object): object {
  return 'replica' in command && typeof command.replica === 'object' && command.replica !== null
    ? { ...command, replica: (command.replica as { start?: { replicaId?: number } }).start?.replicaId }
    : command;
}
