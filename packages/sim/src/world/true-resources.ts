import type { HeldReplica } from '@mutirao/core/machines/agent';
import { emptyRequest } from '@mutirao/core/resources';
import { invariant } from '@mutirao/core/shared';
import { findAlternatives } from './plan-resources.ts';
import type { JobPlan, LabMachinePlan } from './scenario.ts';

/** What a run really uses, by the plan of its job, and the devices that it was given. */
interface TrueUse {
  readonly memory: number;
  readonly licences: number;
  readonly devices: NonNullable<HeldReplica['assignment']>['devices'];
}

/** The real use of the machines' memory, GPUs and licences by running tasks, whatever brokers and agents count. */
export class TrueResources {
  /** By incarnation and replica. */
  readonly #uses = new Map<string, Map<number, TrueUse>>();

  /** A run begins: with those that go on it must not use more than its machine has. */
  begin(
    {
      incarnation,
      machine,
      has,
    }: { readonly incarnation: string; readonly machine: string; readonly has: LabMachinePlan['has'] | undefined },
    { start: { replicaId }, template, assignment }: HeldReplica,
    plan: JobPlan,
  ): void {
    const { asks } = plan;
    if (asks === undefined) return;
    const uses = this.#uses.get(incarnation) ?? new Map<number, TrueUse>();
    this.#uses.set(incarnation, uses);
    const devices = assignment?.devices ?? [];
    const given = devices.reduce((sum, { share }) => sum + share, 0);
    const { memory, gpus } = template.resources ?? emptyRequest;
    invariant(isAsked(plan, gpus) && given === gpus, `r${replicaId} asks for ${asks.gpus}/1000 GPUs and gets ${given}`);
    invariant(memory >= asks.memory, `r${replicaId} asks for ${asks.memory} of memory and gets ${memory}`);
    uses.set(replicaId, { memory, licences: asks.licences, devices });
    checkUses(machine, has ?? { memory: 0, gpus: 0, licences: 0 }, [...uses.values()]);
  }

  /** A run is over. */
  end(incarnation: string, replicaId: number): void {
    this.#uses.get(incarnation)?.delete(replicaId);
  }

  /** An agent's process is gone, and what it ran with it. */
  endAll(incarnation: string): void {
    this.#uses.delete(incarnation);
  }
}

/** Whether a request of the plan's tasks, the first or another, is for that share of GPUs. */
function isAsked(plan: JobPlan, gpus: number): boolean {
  return gpus === plan.asks?.gpus || (gpus === 0 && findAlternatives(plan).alternatives !== undefined);
}

function checkUses(machine: string, has: NonNullable<LabMachinePlan['has']>, uses: readonly TrueUse[]): void {
  for (const name of ['memory', 'licences'] as const) {
    const used = uses.reduce((sum, use) => sum + use[name], 0);
    invariant(used <= has[name], `${machine} has ${has[name]} of ${name}, and ${used} are used`);
  }
  const shares = new Map<number, number>();
  for (const { deviceIndex, share } of uses.flatMap((use) => use.devices))
    shares.set(deviceIndex, (shares.get(deviceIndex) ?? 0) + share);
  for (const [index, share] of shares) {
    invariant(
      index < has.gpus && share <= 1000,
      `${share}/1000 of GPU ${index} of ${machine} are used, which has ${has.gpus} GPUs`,
    );
  }
}
