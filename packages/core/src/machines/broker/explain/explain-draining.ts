import { describeInstant } from '../../../shared/index.ts';
import { listedMax } from './explanation.ts';
import { countReplicasAt } from '../machines/takes-work.ts';
import { plural } from './sentences.ts';
import type { BrokerMachine, BrokerProvider, DrainedMachine } from '../state.ts';

/**
 * Says that providers are draining, since when, and what still runs there, as a part of a sentence; undefined where
 * none is.
 */
export function describeDraining(providers: Iterable<BrokerProvider>): string | undefined {
  const all = [...providers].flatMap((provider) => describeOne(provider));
  return all.length === 0 ? undefined : all.slice(0, listedMax).join(', ');
}

/** How work comes to draining providers again; a sentence for each. */
export function adviseUndrain(providers: Iterable<BrokerProvider>): string[] {
  return [...providers]
    .filter(({ draining }) => draining !== undefined)
    .slice(0, listedMax)
    .map(({ providerId }) => `"mutirao provider undrain ${providerId}" makes it take work again.`);
}

/** Says that a machine is draining, since when, and what still runs there, as a part of a sentence. */
export function describeDrainedMachine({ replicas }: BrokerMachine, { since, reason }: DrainedMachine): string {
  const why = reason === '' ? '' : `, "${reason}"`;
  const count = [...replicas.values()].filter(({ status }) => status !== 'aborting').length;
  return (
    `it is draining (since ${describeInstant(since - (since % 1000))}, ${plural(count, 'task')} still ` +
    `running${why})`
  );
}

function describeOne(provider: BrokerProvider): string[] {
  const { providerId, draining } = provider;
  if (draining === undefined) return [];
  const why = draining.reason === '' ? '' : `, "${draining.reason}"`;
  return [
    `provider ${providerId} is draining (since ${describeInstant(draining.since - (draining.since % 1000))}, ` +
      `${plural(countReplicasAt(provider), 'task')} still running${why})`,
  ];
}
