import { summarize } from '../../summarize.ts';
import { listWaits, type BucMeasured } from './measure.ts';
import { injectedUsers } from './setups.ts';

/** What became of a statement in one setup. */
export interface BucFinding {
  readonly verdict: 'held' | 'not held' | 'no difference' | 'not testable';
  readonly evidence: string;
}

/** Something that the seed says. */
export interface BucClaim {
  readonly says: string;
  /** Which of the figure's users wait less or more, and of which services: their places in the family. */
  readonly test: (measured: BucMeasured) => BucFinding;
}

/**
 * How much longer a user waits under one service than under another, in percent of the other's mean, by injection; NaN
 * without waits.
 */
export function listChanges(
  measured: BucMeasured,
  userId: string | undefined,
  [from, to]: readonly [number, number],
): number[] {
  const before = listWaits(measured, from, userId);
  const { mean } = summarize(before);
  return listWaits(measured, to, userId).map((wait, run) => (100 * (wait - (before[run] ?? 0))) / mean);
}

/** A mean and half of its 95 % interval, with its sign: `-12.3 +- 1.2 %`. */
export function showChange(values: readonly number[]): string {
  const { mean, halfInterval } = summarize(values);
  if (!Number.isFinite(mean)) return 'nobody waits';
  return (
    `${mean > 0 ? '+' : ''}${mean.toFixed(1)}${Number.isFinite(halfInterval) ? ` +- ${halfInterval.toFixed(1)}` : ''} ` +
    '%'
  );
}

/** @param sign 1 if the user should wait longer under the second service, -1 if less. */
function waits(title: string, sign: 1 | -1, services: readonly [number, number]): BucClaim['test'] {
  return (measured) => {
    const user = measured.watched.find((one) => one.title === title);
    const changes = listChanges(measured, user?.userId, services);
    const { mean, halfInterval } = summarize(changes);
    const evidence = showChange(changes);
    if (!Number.isFinite(mean)) return { verdict: 'not testable', evidence };
    if (Math.abs(mean) <= halfInterval) return { verdict: 'no difference', evidence };
    return { verdict: Math.sign(mean) === sign ? 'held' : 'not held', evidence };
  };
}

/** Held where the careless injected user's change, in percent, is above that of a conscious one. */
function fares(title: string, services: readonly [number, number]): BucClaim['test'] {
  return (measured) => {
    const [careless, conscious] = ['Injected 1', title].map((name) =>
      listChanges(measured, measured.watched.find((one) => one.title === name)?.userId, services),
    ) as [number[], number[]];
    const gaps = careless.map((change, run) => change - (conscious[run] ?? 0));
    const { mean, halfInterval } = summarize(gaps);
    const evidence = showChange(gaps).replace('%', 'points');
    if (!Number.isFinite(mean)) return { verdict: 'not testable', evidence };
    if (Math.abs(mean) <= halfInterval) return { verdict: 'no difference', evidence };
    return { verdict: mean > 0 ? 'held' : 'not held', evidence };
  };
}

const [base, small, large] = [0, 1, 2] as const;
const users = [
  { title: 'Injected 1', who: 'Injected 1 (precision 0 %)', sign: 1 },
  { title: 'Injected 2', who: 'Injected 2 (50 %)', sign: -1 },
  { title: 'Injected 3', who: 'Injected 3 (100 %)', sign: -1 },
  { title: 'Real 1', who: 'Real 1, the careless one', sign: 1 },
  { title: 'Real 3', who: 'Real 3, the conscious one', sign: -1 },
] as const;

/** The statements, each tested in each setup. */
export const bucClaims: readonly BucClaim[] = [
  ...users.flatMap(({ title, who, sign }) => [
    {
      says: `${who} waits ${sign === 1 ? 'longer' : 'less'} with K = 1440 than in the order of arrival`,
      test: waits(title, sign, [base, small]),
    },
    { says: `... with K = 10800 than in the order of arrival`, test: waits(title, sign, [base, large]) },
    { says: `... with K = 10800 than with K = 1440`, test: waits(title, sign, [small, large]) },
  ]),
  ...['Injected 2', 'Injected 3'].flatMap((title): BucClaim[] => [
    {
      says: `From the order of arrival to K = 1440 ${title} fares better than Injected 1`,
      test: fares(title, [base, small]),
    },
    { says: '... to K = 10800', test: fares(title, [base, large]) },
    { says: '... from K = 1440 to K = 10800', test: fares(title, [small, large]) },
  ]),
];

/**
 * The mean scores that the injected users' jobs met, over all injections: at their ends, as the rule is fitted, and at
 * their submissions.
 */
export function findScores(
  { runs }: BucMeasured,
  service: number,
): { readonly userId: string; readonly seedScore: number; readonly atEnd: number; readonly atSubmission: number }[] {
  return injectedUsers.map(({ userId, seedScore }) => {
    const found = (runs[service] ?? []).flatMap((run) => run.users.get(userId) ?? []);
    return {
      userId,
      seedScore,
      atEnd: summarize(found.map(({ meanScore }) => meanScore)).mean,
      atSubmission: summarize(found.map(({ meanScoreAtSubmission }) => meanScoreAtSubmission)).mean,
    };
  });
}
