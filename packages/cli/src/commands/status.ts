import type { Command } from 'commander';

import { plural } from '@mutirao/core/shared';

import type { Act, CommandContext } from '../context.ts';
import type { ExitStatus } from '../exit-status.ts';
import { jobJson, providerJson } from '../json/documents.ts';
import { printResult } from '../output/print-result.ts';
import { jobTable } from './job/list.ts';
import { providerTable } from './provider/list.ts';

export function define(command: Command, act: Act): void {
  command.action(() => act(printStatus));
}

const jobsShownMax = 10;

/** Prints jobs, providers and machines at a glance. */
export async function printStatus(context: CommandContext): Promise<ExitStatus> {
  const broker = await context.broker();
  const [{ jobs, trouble = '' }, { providers }, { machines }] = await Promise.all([
    broker.listJobs({ pageSize: jobsShownMax, beforeJobId: 0 }),
    broker.listProviders(),
    broker.listMachines(),
  ]);
  const sums = {
    machine_count: machines.length,
    processors: machines.reduce((sum, machine) => sum + (machine.facts?.processors ?? 0), 0),
    running_count: machines.reduce((sum, machine) => sum + machine.runningCount, 0),
  };
  printResult(context.output, {
    json: () => ({ jobs: jobs.map(jobJson), providers: providers.map(providerJson), machines: sums, trouble }),
    table: () => [
      ...(trouble === '' ? [] : [`The broker takes nothing new: ${trouble}`, '']),
      ...(jobs.length === 0 ? ['No jobs.'] : jobTable(jobs, context.clock.now())),
      '',
      ...(providers.length === 0 ? ['No providers.'] : providerTable(providers)),
      '',
      `${plural(sums.machine_count, 'machine')} with ${plural(sums.processors, 'processor')}, ` +
        `${plural(sums.running_count, 'replica')} running.`,
    ],
    quiet: () => jobs.map((job) => job.jobId),
  });
  return 0;
}
