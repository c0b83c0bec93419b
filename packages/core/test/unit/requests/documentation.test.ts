import { readFileSync, writeFileSync } from 'node:fs';
import test from 'ava';
import { sayReason } from '@mutirao/api/reasons';
import { findHeuristic, heuristicNames, type RequestFacts } from '@mutirao/core/requests';
import { aListing, aServed, someFacts, type ListedRequest } from '@mutirao/testkit';

const document = new URL('../../../../../docs/internals/heuristics.md', import.meta.url);
const minute = 60_000;
const hour = 60 * minute;

const reservationBlock = Array.from(
  { length: 3 },
  (_, index): ListedRequest => ({
    status: 'queued',
    width: 64,
    walltime: 16 * hour,
    startsAt: (2 + 16 * index) * hour,
  }),
);
const first: RequestFacts = someFacts({
  limits: { processors: 64, requestsMax: 2, walltimeMax: 18 * hour, widthMax: 64, walltimeGranularity: minute },
  listing: aListing(64, 0, [
    { status: 'running', width: 32, walltime: 2 * hour },
    { status: 'running', width: 24, walltime: 30 * minute },
    ...reservationBlock,
  ]),
  demand: { pendingTasks: 100, processors: 1, deadline: undefined },
});
const later: RequestFacts = {
  ...first,
  served: [aServed(8, -2 * hour, 0, 13 * hour)],
  taskTimes: { longest: 25 * minute, mean: 20 * minute, count: 40 },
  demand: { ...first.demand, pendingTasks: 20 },
};

function describeDecision(name: string, facts: RequestFacts): string[] {
  const { drafts, reasons } = findHeuristic(name)!.draft(facts);
  return [
    ...reasons.map((reason) => sayReason(reason)),
    ...drafts.flatMap(({ width, walltime, reasons: own }) => [
      `  ${width} processors, ${walltime / minute} min`,
      ...own.map((reason) => `    ${sayReason(reason)}`),
    ]),
  ];
}

function getExample(name: string): string {
  return ['First:', ...describeDecision(name, first), '', 'Later:', ...describeDecision(name, later)].join('\n');
}

test('the examples of the documentation are what the code says', (t) => {
  const before = readFileSync(document, 'utf8');
  const after = before.replaceAll(
    /<!-- example (\w+) -->\n```text\n[^`]*```/g,
    (_, name: string) => `<!-- example ${name} -->\n\`\`\`text\n${getExample(name)}\n\`\`\``,
  );
  for (const name of heuristicNames) t.true(after.includes(getExample(name)), `${name} has no example`);
  if (process.env['BLESS'] === '1') writeFileSync(document, after);
  else t.is(before, after);
});
