import type { LeadRule } from '@mutirao/core/reservations';
import { describeExactTime, describeTime } from '@mutirao/core/shared';
import { grouped, section, table } from '../costa2005/markdown.ts';
import { shareWithInterval } from '../../summarize.ts';
import {
  leadRules,
  getReservations,
  reservedFor,
  type ProvisioningMeasured,
  type ProvisioningSettings,
} from './measure.ts';
import type { Held, Reserved } from './pre-acquire.ts';

/** Writes up the study. The same measurements, the same text. */
export function reportProvisioning(settings: ProvisioningSettings, all: readonly ProvisioningMeasured[]): string {
  const logs = [...new Set(all.map(({ setup }) => setup.trace.title))];
  return [
    introduction(settings, all),
    section('Rules', rulesText),
    section('All queues together', ruleTable(all)),
    ...logs.map((log) =>
      section(
        log,
        ...all
          .filter(({ setup }) => setup.trace.title === log)
          .map((measured) => `${nameOf(measured)}\n\n${ruleTable([measured])}`),
      ),
    ),
    section('How it was simulated', assumptions),
  ].join('\n');
}

/** All reservations as CSV, one line for each rule. */
export function aheadCsv(all: readonly ProvisioningMeasured[]): string {
  const lines = all.flatMap(({ setup, reservations }) =>
    reservations.flatMap(({ reserved, results }, run) =>
      results.map(({ askedAt, startedAt }, index) =>
        [
          setup.trace.id,
          setup.policy.name,
          reserved.width,
          run,
          nameOfRule(leadRules[index] as LeadRule),
          reserved.startsAt,
          askedAt,
          startedAt ?? '',
        ].join(','),
      ),
    ),
  );
  return `${['log,policy,width,run,rule,starts_ms,asked_ms,started_ms', ...lines].join('\n')}\n`;
}

function introduction(settings: ProvisioningSettings, all: readonly ProvisioningMeasured[]): string {
  return `# Allocations held ahead: are they there when the reservation begins?

Written by \`mutirao sim study ahead${settings.isQuick ? ' --quick' : ''} --seed ${settings.seed} --out DIR\`. ${grouped(all.length * getReservations(settings))} reservations of ${describeExactTime(reservedFor)}, ${getReservations(settings)} in each of ${all.length} setups (log, policy, width), at
instants drawn from the log; each rule meets the same instants, and every result is a line of \`ahead-runs.csv\`. A setup's *width* is a share of its machine.

Where a site's manager makes no reservation for us, capacity can be asked for early, as an ordinary request, and held idle until the reservation begins. That is best effort: the request may
start too late. The columns: **there** is the share of reservations whose allocation had started by their beginning (95 % interval of Wilson); **late by** the mean delay of those that
started after it; **given up** those that had not started when half of the reservation was over; **held idle** the processor time before the beginning, over that of the reservation
(1 means that it cost as much again); **asked** the mean time ahead.`;
}

function nameOf({ setup }: ProvisioningMeasured): string {
  return (
    `**${setup.policy.name}, ${Math.round(setup.trace.processors * setup.widthShare)} of ` +
    `${setup.trace.processors} processors**`
  );
}

/** What a rule is called. */
export function nameOfRule(rule: LeadRule): string {
  switch (rule.kind) {
    case 'fixed':
      return `fixed ${describeExactTime(rule.lead)}`;
    case 'learned':
      return `learned ${Math.round(100 * rule.share)} %`;
    case 'forecast':
      return rule.margin === 0 ? 'forecast' : `forecast + ${describeExactTime(rule.margin)}`;
  }
}

interface Outcome {
  readonly reserved: Reserved;
  readonly held: Held;
}

function ruleTable(all: readonly ProvisioningMeasured[]): string {
  const rows = leadRules.map((rule, index) => {
    const outcomes = all.flatMap(({ reservations }) =>
      reservations.map(({ reserved, results }): Outcome => ({ reserved, held: results[index] as Held })),
    );
    const started = outcomes.filter(({ held }) => held.startedAt !== undefined);
    const late = started
      .map(({ reserved, held }) => (held.startedAt ?? 0) - reserved.startsAt)
      .filter((delay) => delay > 0);
    const idle = outcomes.map(
      ({ reserved, held }) =>
        Math.max(0, reserved.startsAt - (held.startedAt ?? Infinity)) / (reserved.endsAt - reserved.startsAt),
    );
    return [
      nameOfRule(rule),
      shareWithInterval(started.length - late.length, outcomes.length),
      late.length === 0 ? '-' : describeTime(mean(late)),
      `${((100 * (outcomes.length - started.length)) / outcomes.length).toFixed(1)} %`,
      meanText(idle),
      describeTime(mean(outcomes.map(({ reserved, held }) => reserved.startsAt - held.askedAt))),
    ];
  });
  return table(['rule', 'there', 'late by', 'given up', 'held idle', 'asked'], rows);
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

function meanText(values: readonly number[]): string {
  const value = mean(values);
  const variance = values.reduce((sum, each) => sum + (each - value) ** 2, 0) / (values.length - 1);
  return `${value.toFixed(2)} +- ${(1.96 * Math.sqrt(variance / values.length)).toFixed(2)}`;
}

const rulesText = `The decision is \`isTimeToAsk\` of \`core/reservations\`, looked at every 10 minutes.

- **fixed**: requested this long ahead.
- **learned**: as long ahead as that share of the last 200 starts that this queue was seen to make waited, of requests as wide or wider (powers of two; all, where those were fewer than 20);
  10 minutes at least. A provider sees these waits in the listings that it reads anyway.
- **forecast**: at each look the queue's own forecast for a request made now, until the reservation's end, is compared with the beginning: asked for as soon as it is later than the margin before it. The
  forecast takes the walltimes of all that runs and waits, and gives holes in the order of arrival.`;

const assumptions = `- The logs are replayed with their requested walltimes under the policy; the request for the allocation is one more, of the reservation's width, until its end. Nothing is asked for longer than
  the log's longest walltime, as in the study of the request heuristics.
- Reservations are made 24 h before they begin. Each is alone: none meets the request of another rule or of another reservation, and what the local users lose by it is not counted.
- Real Slurm has priorities, limits of users and partitions that are not in the logs; its waits will differ. The table shows the value of each rule in queues like these.`;
