import { join, relative } from 'node:path';
import type { Command } from 'commander';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import type { JsonOf, shapes } from '../../json/shapes.ts';
import { printResult } from '../../output/print-result.ts';
import { showDuration } from '../../output/units.ts';
import { writeNamed } from '../../output/write-named.ts';
import { readPlan, type SwarmOptions, type SwarmPlan } from '../../simulation/swarm/swarm-options.ts';
import { carryOutAll } from '../../simulation/swarm/swarm-pool.ts';
import { SwarmTally } from '../../simulation/swarm/swarm-tally.ts';
import type { FailureExplanation, SwarmOrder, WorldOutcome } from '../../simulation/swarm/swarm-worker.ts';

export function define(command: Command, act: Act): void {
  command
    .optionsGroup('Worlds:')
    .option('--seeds <count>', 'number of simulated grids, each with a seed of its own')
    .option('--from <seed>', 'the first seed (default: 0)')
    .option('--scenario <file>', 'simulate the grid of this file; with --seeds, once with each seed')
    .option('--failures <file>', 'make lab machines fail as the nodes in this log of the Failure Trace Archive')
    .option('--factor <number>', 'with --failures: divide the times of the log by this', '1000')
    .optionsGroup('Runs and results:')
    .option('--workers <count>', 'threads (default: one per processor)')
    .option('--shrink <count>', 'runs to spend on simplifying a failing grid; 0 = none', '300')
    .option('--out <folder>', 'folder for the scenarios of failing grids (default: the current folder)')
    .option('--trace <file>', 'write the turns of a single simulated grid as text, one per line')
    .action((options: SwarmOptions) => act((context) => runSwarm(context, options)));
}

/** Failures that are shrunk and described; of further ones only the seed is printed. */
const reportedMax = 3;
const storyLinesMax = 60;
/** Worlds that a worker takes at once. */
const batchSize = 10;

/** The report of a failure: where its smallest scenario is, and how it is repeated. */
interface ReportedFailure extends FailureExplanation {
  /** As the user can name it from the current folder. */
  readonly file: string;
  readonly command: string;
}

/** Runs many simulated grids; the exit status says whether all passed. */
export async function runSwarm(context: CommandContext, options: SwarmOptions): Promise<ExitStatus> {
  const { output, clock, signal } = context;
  const plan = readPlan(context.directory, options, context.output.note);
  const tally = new SwarmTally(output, clock, plan.seeds?.count ?? 1);
  await runAll(context, plan, tally);
  const failures = await explainAll(context, plan, tally.failed.slice(0, reportedMax));
  const isInterrupted = signal.aborted;
  printResult(output, {
    json: () => getDocument(plan, tally, { failures, isInterrupted }),
    table: () => [...failures.flatMap(listLines), ...unreportedLines(tally.failed, failures), ...endLines(plan, tally)],
    quiet: () => tally.failed.map(({ seed }) => seed),
  });
  if (isInterrupted) {
    output.note(`interrupted after ${tally.doneCount} of ${plan.seeds?.count ?? 1} worlds`);
    return 4;
  }
  return tally.failed.length > 0 ? 1 : 0;
}

async function runAll({ signal }: CommandContext, plan: SwarmPlan, tally: SwarmTally): Promise<void> {
  const { scenario, failures } = plan;
  const batchCount = Math.ceil((plan.seeds?.count ?? 1) / batchSize);
  try {
    await carryOutAll(listOrders(plan), {
      scenario,
      failures,
      signal,
      workerCount: Math.min(plan.workerCount, batchCount),
      onAnswer: (answer) => {
        if (answer.kind === 'ran') tally.add(answer.outcomes);
      },
    });
  } finally {
    tally.close();
  }
}

function* listOrders({ scenario, seeds, trace }: SwarmPlan): Generator<SwarmOrder> {
  if (seeds === undefined) {
    yield { kind: 'run', seeds: [scenario?.seed ?? ''], trace };
    return;
  }
  for (let first = 0; first < seeds.count; first += batchSize) {
    const size = Math.min(batchSize, seeds.count - first);
    yield { kind: 'run', seeds: Array.from({ length: size }, (_, index) => String(seeds.from + first + index)), trace };
  }
}

/** Makes the worlds of failures small, and writes them. */
async function explainAll(
  { signal, directory, output }: CommandContext,
  plan: SwarmPlan,
  failed: readonly WorldOutcome[],
): Promise<ReportedFailure[]> {
  const { scenario, failures, triesMax, workerCount } = plan;
  if (failed.length === 0 || signal.aborted) return [];
  if (triesMax > 0) output.note(`making ${failed.length} failing ${failed.length === 1 ? 'world' : 'worlds'} smaller`);
  const orders = failed.flatMap(({ seed, failure }): SwarmOrder[] =>
    failure === undefined ? [] : [{ kind: 'explain', seed, failure, triesMax, linesMax: storyLinesMax }],
  );
  const reported: ReportedFailure[] = [];
  await carryOutAll(orders, {
    scenario,
    failures,
    signal,
    workerCount: Math.min(workerCount, orders.length),
    onAnswer: (answer) => {
      if (answer.kind === 'explained') reported.push(keep(directory, plan, answer.explanation));
    },
  });
  return reported.toSorted((one, other) => Number(one.seed) - Number(other.seed));
}

function keep(directory: string, plan: SwarmPlan, explanation: FailureExplanation): ReportedFailure {
  const path = join(plan.out, `swarm-${explanation.seed.replaceAll(/[^\w.-]/g, '_')}.json`);
  // One line: so it can be appended to the list of regressions.
  writeNamed(path, `${JSON.stringify(explanation.scenario)}\n`);
  const fromHere = relative(directory, path);
  return {
    ...explanation,
    file: fromHere.startsWith('..') ? path : fromHere,
    command: getCommand(plan, explanation.seed),
  };
}

/** What a user types to run the world of this seed again. */
function getCommand({ file, seeds, failuresFile }: SwarmPlan, seed: string): string {
  const words = [
    ...(file === undefined ? [] : ['--scenario', file]),
    ...failuresFile,
    ...(seeds === undefined ? [] : ['--seeds', '1', '--from', seed]),
  ];
  return `mutirao sim swarm ${words.map(quote).join(' ')}`;
}

function quote(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function listLines({
  seed,
  failure,
  command,
  file,
  smallestFailure,
  tryCount,
  story,
  scenario,
}: ReportedFailure): string[] {
  const { jobs, clusters, labs } = scenario;
  const taskCount = jobs.reduce((sum, job) => sum + job.taskCount, 0);
  return [
    `seed ${seed} failed ${showDuration(failure.after)} after its start, ${phases[failure.phase]}: ${failure.message}`,
    `  again     ${command}`,
    `  smallest  mutirao sim swarm --scenario ${quote(file)}`,
    `            found in ${tryCount} runs: jobs ${jobs.length} with tasks ${taskCount}, clusters ` +
      `${clusters.length}, labs ${labs.length}, storm ${showDuration(scenario.stormDuration)}`,
    `            ${showDuration(smallestFailure.after)} after its start, ${phases[smallestFailure.phase]}: ` +
      `${smallestFailure.message}`,
    `  keep it   (echo '# what it found'; cat ${quote(file)}) >> packages/sim/test/regressions.txt`,
    `  story of ${story.about.length === 0 ? 'everything' : story.about.join(', ')}, in the smallest world, in ` +
      'seconds since its start:',
    ...(story.leftOutCount === 0 ? [] : [`    ${story.leftOutCount} earlier lines are left out`]),
    ...story.lines.map((line) => `  ${line}`),
    '',
  ];
}

const phases = { storm: 'in the storm', healing: 'when all was mended' } as const;

function unreportedLines(failed: readonly WorldOutcome[], reported: readonly ReportedFailure[]): string[] {
  const seeds = failed.map(({ seed }) => seed).filter((seed) => !reported.some((failure) => failure.seed === seed));
  return seeds.length === 0 ? [] : [`further failures, by seed: ${seeds.join(', ')}`];
}

function endLines({ seeds }: SwarmPlan, tally: SwarmTally): string[] {
  const { doneCount, failed, simulatedMs, elapsedMs } = tally;
  const range = seeds === undefined ? '' : `seeds ${seeds.from}..${seeds.from + seeds.count - 1}: `;
  return [
    `${range}${showDuration(simulatedMs)} simulated in ${showDuration(elapsedMs)}; ${tally.rates()}`,
    `${doneCount - failed.length} passed, ${failed.length} failed`,
  ];
}

function getDocument(
  { seeds, file }: SwarmPlan,
  tally: SwarmTally,
  { failures, isInterrupted }: { readonly failures: readonly ReportedFailure[]; readonly isInterrupted: boolean },
): JsonOf<typeof shapes.swarm> {
  return {
    scenario: file ?? null,
    seed_from: seeds?.from ?? null,
    world_count: seeds?.count ?? 1,
    passed_count: tally.doneCount - tally.failed.length,
    failed_count: tally.failed.length,
    interrupted: isInterrupted,
    turn_count: tally.turnCount,
    simulated_ms: tally.simulatedMs,
    elapsed_ms: tally.elapsedMs,
    failed_seeds: tally.failed.map(({ seed }) => seed),
    failures: failures.map(failureJson),
  };
}

function failureJson({
  seed,
  failure,
  command,
  file,
  smallestFailure,
  tryCount,
  story,
}: ReportedFailure): JsonOf<typeof shapes.swarm_failure> {
  return {
    seed,
    phase: failure.phase,
    after_ms: failure.after,
    message: failure.message,
    command,
    scenario: file,
    smallest_after_ms: smallestFailure.after,
    smallest_message: smallestFailure.message,
    run_count: tryCount,
    about: story.about,
    story: story.lines,
    story_left_out_count: story.leftOutCount,
  };
}
