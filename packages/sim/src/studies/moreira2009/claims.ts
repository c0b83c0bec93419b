import { summarize } from '../../summarize.ts';
import { getHeterogeneity } from './clusters.ts';
import { getDifference, listMakespans, listRuns, getSpread, type ClusterRuns, type ReadingRuns } from './measure.ts';
import { widthsOn } from './strategies.ts';

/** What became of a claim. */
export interface Finding {
  readonly verdict: 'held' | 'held in part' | 'not held' | 'not testable';
  readonly evidence: string;
}

/** Something that the seed says. */
export interface Claim {
  /** Section or table. */
  readonly where: string;
  readonly says: string;
  readonly test: (study: ReadingRuns) => Finding;
}

/** That something is less than something else on a cluster, draw by draw. */
interface Comparison {
  readonly name: string;
  /** How much greater the one is that should be, in percent of the other one's mean, by draw. */
  readonly gains: readonly number[];
}

/** Dynamic algorithms of the seed. */
const dynamic = ['HPTS', 'iHPTS', 'HEFT'] as const;

function find({ clusters }: ReadingRuns, name: string): ClusterRuns {
  const found = clusters.find(({ cluster }) => cluster.name === name);
  if (found === undefined) throw new Error(`no cluster ${name}`);
  return found;
}

function faster(cluster: ClusterRuns, shorter: string, longer: string): Comparison {
  return compare(
    `${shorter} under ${longer} on ${cluster.cluster.name}`,
    listMakespans(cluster, shorter),
    listMakespans(cluster, longer),
  );
}

function compare(name: string, lesser: readonly number[], greater: readonly number[]): Comparison {
  const mean = lesser.reduce((sum, value) => sum + value, 0) / lesser.length;
  return { name, gains: greater.map((value, draw) => (100 * (value - (lesser[draw] as number))) / mean) };
}

const signed = (gains: readonly number[]): string => {
  const { mean, halfInterval } = summarize(gains);
  return `${mean.toFixed(1)} +- ${halfInterval.toFixed(1)} %`;
};

/** Held where the mean of every comparison is above 0 by more than its interval. */
function judge(comparisons: readonly Comparison[]): Finding {
  const summed = comparisons.map((comparison) => ({ ...comparison, ...summarize(comparison.gains) }));
  const failed = summed.filter(({ mean, halfInterval }) => mean <= halfInterval);
  const together = (comparisons[0] as Comparison).gains.filter((_, draw) =>
    comparisons.every(({ gains }) => (gains[draw] as number) > 0),
  ).length;
  const share = `${((100 * together) / (comparisons[0] as Comparison).gains.length).toFixed(0)} % of the draws`;
  const [least] = summed.toSorted((one, other) => one.mean - other.mean) as [(typeof summed)[number]];
  if (failed.length === 0) {
    const evidence =
      comparisons.length === 1
        ? `by ${signed(least.gains)}; in ${share}`
        : `all ${comparisons.length} comparisons, the least ${least.name} by ${signed(least.gains)}; all at once ` +
          `in ${share}`;
    return { verdict: 'held', evidence };
  }
  const reported = failed
    .slice(0, 4)
    .map(({ name, gains }) => `${name}: ${signed(gains)}`)
    .join('; ');
  const rest = failed.length > 4 ? ` and ${failed.length - 4} more` : '';
  const verdict = failed.length === comparisons.length ? 'not held' : 'held in part';
  return {
    verdict,
    evidence:
      `not in ${failed.length} of ${comparisons.length}: ` +
      `${reported}${rest}${comparisons.length === 1 ? `; in ${share}` : ''}`,
  };
}

/** Held where a gain is less than one percent either way. */
function judgeEqual(comparisons: readonly Comparison[]): Finding {
  const differing = comparisons.filter(({ gains }) => Math.abs(summarize(gains).mean) >= 1);
  const verdict =
    differing.length === 0 ? 'held' : differing.length === comparisons.length ? 'not held' : 'held in part';
  return { verdict, evidence: comparisons.map(({ name, gains }) => `${name}: ${signed(gains)}`).join('; ') };
}

/** The dynamic method against fixed reservations and 1J-1P. */
function againstBaselines(study: ReadingRuns, names: readonly string[]): Finding {
  return judge(
    names.flatMap((name) => {
      const cluster = find(study, name);
      const widths = widthsOn(cluster.cluster.capacities.length);
      return dynamic.flatMap((algorithm) =>
        [...widths.flatMap((width) => [`HPTS${width}P`, `HEFT${width}P`]), '1J-1P'].map((baseline) =>
          faster(cluster, algorithm, baseline),
        ),
      );
    }),
  );
}

function sameReservation(study: ReadingRuns): Finding {
  return judge(
    study.clusters.flatMap((cluster) =>
      widthsOn(cluster.cluster.capacities.length).map((width) => faster(cluster, `HPTS${width}P`, `HEFT${width}P`)),
    ),
  );
}

function overall(study: ReadingRuns, field: 'means' | 'deviations', names: readonly string[]): Finding {
  return judge(
    names.map((name) => {
      const cluster = find(study, name);
      return compare(
        `HPTS under HEFT on ${name}`,
        getSpread(cluster, 'HPTS')[field],
        getSpread(cluster, 'HEFT')[field],
      );
    }),
  );
}

const pairs = (study: ReadingRuns, names: readonly string[], shorter: string, longer: string): Comparison[] =>
  names.map((name) => faster(find(study, name), shorter, longer));

function sameAlone(study: ReadingRuns): Finding {
  const alike = (one: string, other: string): number => {
    const others = listMakespans(find(study, other), '1J-1P');
    const values = listMakespans(find(study, one), '1J-1P');
    return values.filter((value, draw) => Math.abs(value - (others[draw] as number)) < 0.5).length;
  };
  const count = listMakespans(find(study, 'C1'), '1J-1P').length;
  const [ten, twenty] = [alike('homogeneous-10', 'C1'), alike('homogeneous-20', 'C2')];
  const verdict = ten === count && twenty === count ? 'held' : ten + twenty === 0 ? 'not held' : 'held in part';
  return {
    verdict,
    evidence:
      `C1 as homogeneous-10 in ${ten}, C2 as homogeneous-20 in ${twenty} of ${count} draws: only where the job ` +
      'that ends last has a processor of capacity 1',
  };
}

function heterogeneity(study: ReadingRuns): Finding {
  const values = study.clusters.map(({ cluster }) => ({ name: cluster.name, value: getHeterogeneity(cluster) }));
  const wanted: Readonly<Record<string, string>> = { C1: '0.3', C2: '0.3', C3: '0.9', C4: '0.9' };
  const isHeld = values.every(({ name, value }) => (wanted[name] ?? '0.0') === value.toFixed(1));
  return {
    verdict: isHeld ? 'held' : 'not held',
    evidence: values.map(({ name, value }) => `${name} ${value.toFixed(2)}`).join(', '),
  };
}

function differences(study: ReadingRuns): Finding {
  const gains = ['homogeneous-10', 'C1', 'C3', 'C4'].map((name) => ({
    name,
    ...getDifference(find(study, name), 'HPTS', 'HEFT'),
  }));
  const isAhead = gains.every(({ mean, halfInterval }) => mean > halfInterval);
  const reported = gains
    .map(({ name, mean, halfInterval }) => `${name} ${mean.toFixed(0)} +- ${halfInterval.toFixed(0)} s`)
    .join(', ');
  if (!study.reading.overlaps)
    return {
      verdict: isAhead ? 'held' : 'held in part',
      evidence: `HEFT is ahead of HPTS without overlap by ${reported}`,
    };
  return {
    verdict: isAhead ? 'held in part' : 'held',
    evidence: `a reason, but not the only one: where both overlap HEFT is ahead by ${reported}`,
  };
}

/** How much more of the processors is in use under one strategy than under another. */
function busier(cluster: ClusterRuns, idler: string, busierOne: string): Comparison {
  const [lesser, greater] = [idler, busierOne].map((name) =>
    listRuns(cluster, name).map(({ utilisation }) => utilisation),
  ) as [number[], number[]];
  return compare(`${idler} under ${busierOne} on ${cluster.cluster.name}`, lesser, greater);
}

function idleReservations({ clusters }: ReadingRuns): Finding {
  return judge(
    clusters.flatMap((cluster) =>
      widthsOn(cluster.cluster.capacities.length).flatMap((width) =>
        ['HPTS', 'HEFT'].map((algorithm) => busier(cluster, `${algorithm}${width}P`, algorithm)),
      ),
    ),
  );
}

function moreProcessors(study: ReadingRuns): Finding {
  const [ten, twenty] = [
    listMakespans(find(study, 'homogeneous-10'), 'HEFT10P'),
    listMakespans(find(study, 'homogeneous-20'), 'HEFT20P'),
  ];
  return judgeEqual([compare('HEFT on 20 homogeneous processors for each job under 10', twenty, ten)]);
}

const untestable = (evidence: string) => (): Finding => ({ verdict: 'not testable', evidence });
const [homogeneous, low, high] = [
  ['homogeneous-10', 'homogeneous-20'],
  ['C1', 'C2'],
  ['C3', 'C4'],
] as const;

/** What the seed claims, in the order of its text. */
export const claims: readonly Claim[] = [
  {
    where: '3.3',
    says: 'HEFT leaves most processors to idle: more of them do not shorten a job',
    test: moreProcessors,
  },
  {
    where: '3.3',
    says: 'HPTS makes better use of the processors that a job has for itself',
    test: (study) =>
      judge(
        study.clusters.flatMap((cluster) =>
          widthsOn(cluster.cluster.capacities.length).map((width) => busier(cluster, `HEFT${width}P`, `HPTS${width}P`)),
        ),
      ),
  },
  { where: '5.1.1', says: 'V is 0.3 for C1 and C2, 0.9 for C3 and C4', test: heterogeneity },
  {
    where: '5.3.1',
    says: 'homogeneous: the dynamic method does better than fixed reservations and 1J-1P, with each algorithm',
    test: (study) => againstBaselines(study, homogeneous),
  },
  {
    where: '5.3.1',
    says: 'homogeneous: iHPTS is not significantly better than HPTS',
    test: (study) => judgeEqual(pairs(study, homogeneous, 'iHPTS', 'HPTS')),
  },
  {
    where: '5.3.1',
    says: '10 processors: HEFT slightly ahead of HPTS',
    test: (study) => judge(pairs(study, ['homogeneous-10'], 'HEFT', 'HPTS')),
  },
  {
    where: '5.3.1',
    says: '20 processors: HPTS ahead of HEFT',
    test: (study) => judge(pairs(study, ['homogeneous-20'], 'HPTS', 'HEFT')),
  },
  {
    where: '5.3.1',
    says: 'the two other approaches behave alike on both homogeneous clusters',
    test: untestable('it does not say in what; makespans under them are in the tables below'),
  },
  {
    where: '5.3.1, Tab. 5.6',
    says: 'over all approaches HEFT takes longer than HPTS',
    test: (study) => overall(study, 'means', homogeneous),
  },
  {
    where: '5.3.1, Tab. 5.6',
    says: '... and HPTS is more regular: its standard deviation is less',
    test: (study) => overall(study, 'deviations', homogeneous),
  },
  {
    where: '5.3.2',
    says: 'C1, C2: the dynamic method does better than both others',
    test: (study) => againstBaselines(study, low),
  },
  {
    where: '5.3.2',
    says: 'C1, C2: iHPTS is slightly ahead of HPTS',
    test: (study) => judge(pairs(study, low, 'iHPTS', 'HPTS')),
  },
  { where: '5.3.2', says: 'C1: HEFT ahead of HPTS', test: (study) => judge(pairs(study, ['C1'], 'HEFT', 'HPTS')) },
  { where: '5.3.2', says: 'C2: HPTS ahead of HEFT', test: (study) => judge(pairs(study, ['C2'], 'HPTS', 'HEFT')) },
  {
    where: '5.3.2, Tab. 5.7',
    says: 'C1, C2: HPTS takes less time over all approaches',
    test: (study) => overall(study, 'means', low),
  },
  {
    where: '5.3.2, Tab. 5.7',
    says: 'C1, C2: HPTS is more regular',
    test: (study) => overall(study, 'deviations', low),
  },
  { where: 'Tab. 5.6, 5.7', says: '1J-1P takes as long on C1 and C2 as on the homogeneous clusters', test: sameAlone },
  {
    where: '5.3.2',
    says: 'C3, C4: the dynamic method does better than both others',
    test: (study) => againstBaselines(study, high),
  },
  { where: '5.3.2', says: 'C3, C4: HEFT ahead of HPTS', test: (study) => judge(pairs(study, high, 'HEFT', 'HPTS')) },
  { where: '5.3.2, 6.1', says: 'with a fixed reservation HPTS always does better than HEFT', test: sameReservation },
  {
    where: '5.3.2, Tab. 5.8',
    says: 'C3, C4: HPTS is more regular',
    test: (study) => overall(study, 'deviations', high),
  },
  {
    where: '5.3.2',
    says: 'C3, C4: iHPTS is slightly ahead of HPTS',
    test: (study) => judge(pairs(study, high, 'iHPTS', 'HPTS')),
  },
  {
    where: '6.1',
    says: 'HEFT is ahead, among other reasons, because its transfers overlap with computation and those of HPTS do not',
    test: differences,
  },
  {
    where: '6.1',
    says:
      'fixed reservations lose because jobs wait and do not use all that they have: less is in use, with the same ' +
      'algorithm',
    test: idleReservations,
  },
  {
    where: '6.1',
    says: 'the method can be used on a real cluster',
    test: untestable('nothing of a simulation speaks of it'),
  },
];
