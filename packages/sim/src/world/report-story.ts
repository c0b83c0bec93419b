import { everything, Story } from '../story/index.ts';
import { showTime } from '../story/describe.ts';
import type { WorldTurn } from './machine-process.ts';
import { runWorld, type WorldFailure } from './run-world.ts';
import type { Scenario } from './scenario.ts';
import type { WorldEvent } from './world-event.ts';
import { worldStart } from './world.ts';

/** What touched the things that a failure names. */
export interface WorldStory {
  /** Ids, as `listIds` gives them, that the story is about. */
  readonly about: readonly string[];
  readonly lines: readonly string[];
  /** Lines before these that are left out. */
  readonly leftOutCount: number;
}

/** The most inputs of the last turn that are printed, whatever they touch. */
const lastInputsMax = 8;

/**
 * Runs a scenario again and prints every input and command that touches the ids which its failure names, and the events
 * of the processes that took part. Times are relative to the world's start.
 *
 * @param linesMax only the last lines, up to this number, are returned.
 */
export function reportStory(scenario: Scenario, { message, stack }: WorldFailure, linesMax: number): WorldStory {
  const about = idsInText(message, learnJobIds(scenario));
  const reporter = new Reporter(about.length === 0 ? [everything] : about, linesMax);
  runWorld(
    scenario,
    (turn) => {
      reporter.addTurn(turn);
    },
    (event) => {
      reporter.addEvent(event);
    },
  );
  if (stack !== '') reporter.reportLastTurn();
  return { about, ...reporter.finish() };
}

class Reporter {
  readonly #story: Story;
  readonly #linesMax: number;
  readonly #lines: string[] = [];
  /** Processes that have a part in the story. */
  readonly #involved = new Set<string>();
  #turnCount = 0;
  #lastTurn: WorldTurn | undefined;
  #isLastTurnReported = false;
  #leftOutCount = 0;

  constructor(about: readonly string[], linesMax: number) {
    this.#story = new Story(about, worldStart);
    this.#linesMax = linesMax;
  }

  addTurn(turn: WorldTurn): void {
    this.#turnCount += 1;
    const before = this.#lines.length + this.#leftOutCount;
    this.#report(this.#story, turn);
    this.#lastTurn = turn;
    this.#isLastTurnReported = this.#lines.length + this.#leftOutCount > before;
  }

  #report(story: Story, { at, process, inputs, changes, commands }: WorldTurn): void {
    for (const [role, messages] of [
      ['input', inputs],
      ['change', changes],
      ['command', commands],
    ] as const) {
      for (const message of messages) {
        const line = story.report({ now: at, turn: this.#turnCount, process, role, message });
        if (line === undefined) continue;
        this.#involved.add(process);
        this.#add(line);
      }
    }
  }

  addEvent({ at, kind, processes, detail }: WorldEvent): void {
    const concerned = processes.filter((process) => this.#involved.has(process));
    if (concerned.length === 0 && processes.length > 0) return;
    this.#add(
      [showTime(at - worldStart).padStart(9), '**', kind, concerned.join(', '), detail]
        .filter((word) => word !== '')
        .join(' '),
    );
  }

  #add(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length >= 2 * this.#linesMax) this.#trim();
  }

  #trim(): void {
    this.#leftOutCount += this.#lines.splice(0, Math.max(0, this.#lines.length - this.#linesMax)).length;
  }

  /** The end of the last turn is printed even if it names nothing of this story. */
  reportLastTurn(): void {
    if (this.#lastTurn === undefined || this.#isLastTurnReported) return;
    this.#report(new Story([everything], worldStart), {
      ...this.#lastTurn,
      inputs: this.#lastTurn.inputs.slice(0, lastInputsMax),
    });
  }

  finish(): Pick<WorldStory, 'lines' | 'leftOutCount'> {
    this.#trim();
    return { lines: this.#lines, leftOutCount: this.#leftOutCount };
  }
}

/** Job ids by the labels under which the world knows them. */
function learnJobIds(scenario: Scenario): ReadonlyMap<string, number> {
  const jobIds = new Map<string, number>();
  runWorld(scenario, ({ changes }) => {
    for (const change of changes) {
      if (change.kind !== 'JobAccepted') continue;
      const { clientJobId, jobId } = change as unknown as { readonly clientJobId: string; readonly jobId: number };
      jobIds.set(clientJobId, jobId);
    }
  });
  return jobIds;
}

/** How texts name things, and the ids of these. */
const namings: readonly (readonly [
  RegExp,
  (names: readonly string[], jobIds: ReadonlyMap<string, number>) => readonly string[],
])[] = [
  [/\br(\d+)\b/g, ([number = '']) => [`r${number}`]],
  [/\breplica (\d+)/g, ([number = '']) => [`r${number}`]],
  [/\btask (\d+) of job (\d+)/g, ([task = '', job = '']) => [`j${job}.t${task}`]],
  [
    /\btask (\d+) of job "(\d+)"/g,
    ([task = '', label = ''], jobIds) => (jobIds.has(label) ? [`j${jobIds.get(label) ?? 0}.t${task}`] : []),
  ],
  [/(?<!of )\bjob (\d+)/g, ([job = '']) => [`j${job}`]],
  [/(?<!of )\bjob "(\d+)"/g, ([label = ''], jobIds) => (jobIds.has(label) ? [`j${jobIds.get(label) ?? 0}`] : [])],
  [/(?<!\/)\b(q\d+)\b/g, ([request = '']) => [request]],
  [/\b(q\d+) of (?:provider )?(\w+)/g, ([request = '', provider = '']) => [`${provider}/${request}`]],
  [/\brequest (\d+) of/g, ([number = '']) => [`c${number}`]],
  [/\b((?:cluster|lab)\d+\/\w+(?:\.\d+)?)/g, ([machine = '']) => [machine]],
];

/** Ids that a text about a failure names, as `listIds` gives them, each once. */
export function idsInText(text: string, jobIds: ReadonlyMap<string, number>): string[] {
  const ids = new Set<string>();
  for (const [pattern, idsFrom] of namings) {
    for (const [, ...names] of text.matchAll(pattern)) for (const id of idsFrom(names, jobIds)) ids.add(id);
  }
  return [...ids];
}
