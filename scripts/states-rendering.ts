import { readFileSync } from 'node:fs';

/** One state diagram: a union type of the sources, and how its states follow each other. */
interface StateDiagram {
  readonly title: string;
  readonly file: string;
  readonly union: string;
  /** From, to, and what causes it; `[*]` is where it begins or ends. */
  readonly transitions: readonly (readonly [from: string, to: string, cause: string])[];
}

const outside = '[*]';

const diagrams: readonly StateDiagram[] = [
  {
    title: 'A task, at the broker',
    file: 'packages/core/src/messages/job.ts',
    union: 'TaskStatus',
    transitions: [
      [outside, 'waiting', 'has predecessors'],
      [outside, 'ready', 'has none'],
      ['waiting', 'ready', 'predecessors finished'],
      ['waiting', 'cancelled', 'predecessor failed, or job cancelled'],
      ['ready', 'running', 'dispatched'],
      ['ready', 'cancelled', 'job cancelled'],
      ['running', 'ready', 'replica lost, or failed with retries left'],
      ['running', 'verifying', 'replica succeeded, outputs, check or votes are pending'],
      ['running', 'finished', 'replica succeeded, nothing to verify'],
      ['running', 'failed', 'no retries left'],
      ['running', 'cancelled', 'job cancelled'],
      ['verifying', 'finished', 'result accepted'],
      ['verifying', 'running', 'result rejected, a sibling replica runs'],
      ['verifying', 'ready', 'result rejected, or more votes needed'],
      ['verifying', 'failed', 'no retries left'],
      ['verifying', 'cancelled', 'job cancelled'],
      ['finished', 'ready', 'its machine was caught with wrong results'],
      ['failed', 'ready', 'job retry'],
      ['cancelled', 'ready', 'job retry'],
      ['cancelled', 'waiting', 'job retry, behind a predecessor'],
    ],
  },
  {
    title: 'An allocation request, at the provider',
    file: 'packages/core/src/messages/provider.ts',
    union: 'RequestStatus',
    transitions: [
      [outside, 'drafted', 'heuristic'],
      ['drafted', 'submitting', 'journaled'],
      ['submitting', 'queued', 'accepted'],
      ['submitting', 'running', 'agents attached before the answer'],
      ['submitting', 'rejected', 'refused'],
      ['submitting', 'vanished', 'no answer, and missing from listings'],
      ['queued', 'running', 'listed as running'],
      ['queued', 'ended', 'withdrawn'],
      ['queued', 'vanished', 'missing from listings'],
      ['running', 'queued', 'requeued by the manager'],
      ['running', 'ended', 'walltime, release or failure'],
      ['running', 'vanished', 'missing from listings'],
      ['ended', outside, ''],
      ['rejected', outside, ''],
      ['vanished', 'queued', 'listed again'],
    ],
  },
  {
    title: 'A replica, at the agent',
    file: 'packages/core/src/machines/agent/state.ts',
    union: 'HeldStatus',
    transitions: [
      [outside, 'dispatched', 'StartReplicas'],
      ['dispatched', 'staging', 'has processors and contents'],
      ['dispatched', 'running', 'nothing to stage'],
      ['staging', 'held', 'member of a gang'],
      ['staging', 'running', 'inputs in place'],
      ['held', 'running', 'whole gang is ready'],
      ['running', 'ending', 'process ended'],
      ['ending', outside, 'reported'],
    ],
  },
  {
    title: 'A reservation, at its manager',
    file: 'packages/core/src/messages/reservation.ts',
    union: 'ReservationStatus',
    transitions: [
      [outside, 'held', 'request with a hold'],
      [outside, 'confirmed', 'request'],
      ['held', 'confirmed', 'confirmed, or committed'],
      ['held', 'expired', 'hold timed out'],
      ['held', 'cancelled', 'by user or owner, or aborted'],
      ['confirmed', 'claimed', 'use begins'],
      ['confirmed', 'expired', 'not claimed'],
      ['confirmed', 'released', 'given back'],
      ['confirmed', 'cancelled', 'by user or owner'],
      ['claimed', 'released', 'end, or given back'],
      ['claimed', 'cancelled', 'resource failed'],
    ],
  },
];

const begins = '<!-- State diagrams: scripts/generate writes them from the state types. -->';
const ends = '<!-- End of the state diagrams. -->';

/** The states that a union type of the sources names, in its order. */
function readStates({ file, union }: StateDiagram): string[] {
  const text = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
  const states = new RegExp(`export type ${union} =([^;]+);`).exec(text)?.[1]?.match(/'[^']+'/g) ?? [];
  if (states.length === 0) throw new Error(`${file} has no union type ${union} of texts`);
  return states.map((quoted) => quoted.slice(1, -1));
}

/** Lines of a diagram. @throws {Error} where it names an unknown state, or leaves one out. */
function renderDiagram(diagram: StateDiagram): string[] {
  const { title, file, union, transitions } = diagram;
  const states = readStates(diagram);
  for (const [from, to] of transitions)
    for (const state of [from, to])
      if (state !== outside && !states.includes(state)) throw new Error(`${union} has no state "${state}" (${file})`);
  for (const state of states)
    if (!transitions.some(([, to]) => to === state))
      throw new Error(`no transition of ${union} leads to "${state}"; add one to scripts/states-rendering.ts`);
  const broken = transitions.find(([, , cause]) => /[;#]/.test(cause));
  if (broken !== undefined) throw new Error(`"${broken[2]}" has a character that Mermaid gives a meaning`);
  const places = [outside, ...states];
  const ordered = transitions.toSorted(([a], [b]) => places.indexOf(a) - places.indexOf(b));
  return [
    `**${title}** (\`${union}\`):`,
    '',
    '```mermaid',
    'stateDiagram-v2',
    ...ordered.map(([from, to, cause]) => `  ${from} --> ${to}${cause === '' ? '' : `: ${cause}`}`),
    '```',
    '',
  ];
}

/** The text of ARCHITECTURE.md with the state diagrams between their two marks, which `former` has to have. */
export function architectureMarkdown(former: string): string {
  const [first, last] = [former.indexOf(begins), former.indexOf(ends)];
  if (first < 0 || last < first) throw new Error('ARCHITECTURE.md has no place for the state diagrams');
  const lines = diagrams.flatMap(renderDiagram);
  return `${former.slice(0, first + begins.length)}\n\n${lines.join('\n')}\n${former.slice(last)}`;
}
