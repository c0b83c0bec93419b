import { findJobLedger, findLedger, type LedgerRow } from '@mutirao/core/machines/broker';
import { invariant } from '@mutirao/core/shared';
import type { World } from '../world.ts';
import type { WorldCheck } from './check.ts';

/** The ledger adds up: in each row, and the jobs' shares to the whole. */
export class LedgerCheck implements WorldCheck {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  look(): void {
    const broker = this.#world.broker.current?.process;
    if (broker === undefined) return;
    const { state, now } = broker;
    const left = new Map<string, LedgerRow>();
    for (const row of findLedger(state, now)) {
      checkRow(row);
      left.set(getKey(row), row);
    }
    for (const jobId of state.jobs.keys()) {
      for (const share of findJobLedger(state, jobId, now) ?? []) subtract(left, share);
    }
    for (const [key, { used, losers, killed }] of left) {
      invariant(
        used === 0 && losers === 0 && killed === 0,
        `of ${key}, ${used}, ${losers} and ${killed} belong to no job`,
      );
    }
  }
}

function getKey({ providerId, requestId }: LedgerRow): string {
  return `${providerId}/${requestId}`;
}

function checkRow(row: LedgerRow): void {
  const { held, used, losers, killed, idle } = row;
  invariant(
    Math.min(held, used, losers, killed, idle) >= 0,
    `the ledger of ${getKey(row)} goes below nothing: ${JSON.stringify(row)}`,
  );
  invariant(
    held === used + losers + killed + idle,
    `the ledger of ${getKey(row)} does not add up: ${JSON.stringify(row)}`,
  );
}

function subtract(left: Map<string, LedgerRow>, share: LedgerRow): void {
  const row = left.get(getKey(share));
  invariant(row, `a job has a share of ${getKey(share)}, which is in no ledger`);
  left.set(getKey(share), {
    ...row,
    used: row.used - share.used,
    losers: row.losers - share.losers,
    killed: row.killed - share.killed,
  });
}
