import type { Prng } from '@mutirao/core/shared';

/**
 * What can be killed or paused. `agent` is one of an allocation or of a lab machine, `task` and `launcher` what runs
 * below one.
 */
export const victimRoles = ['broker', 'provider', 'cluster', 'agent', 'task', 'launcher', 'watchdog'] as const;
/** See `victimRoles`. */
export type VictimRole = (typeof victimRoles)[number];

/** One of those that have a role when the fault comes: the one at this fraction of their list. */
export interface Victim {
  readonly role: VictimRole;
  /** In [0, 1). */
  readonly at: number;
}

/**
 * How a way between two processes fails: `refuse` lets nobody connect, `stall` passes nothing on, `halfClose` ends one
 * direction.
 */
export const wireModes = ['cut', 'refuse', 'stall', 'halfClose'] as const;
/** See `wireModes`. */
export type WireMode = (typeof wireModes)[number];

/** One thing that goes wrong. `at` chooses among the wires or disks that there are. */
export type Fault =
  | { readonly kind: 'kill'; readonly victims: readonly Victim[] }
  | { readonly kind: 'killAll' }
  /** Every process of a role at once, and a second role if it is given. */
  | { readonly kind: 'killRoles'; readonly roles: readonly VictimRole[] }
  /** The broker is killed and not started again for a while, so that its providers stand in for it. */
  | { readonly kind: 'away'; readonly forMs: number }
  | { readonly kind: 'pause'; readonly victims: readonly Victim[]; readonly forMs: number }
  | { readonly kind: 'wire'; readonly at: number; readonly mode: WireMode; readonly forMs: number }
  | { readonly kind: 'disk'; readonly at: number; readonly forMs: number };

const processRoles: readonly VictimRole[] = ['broker', 'provider', 'cluster', 'agent'];

/** Faults drawn from a random stream. The same stream gives the same faults; the targets depend on what runs then. */
export class FaultPlan {
  readonly #rng: Prng;
  readonly #hasDisks: boolean;

  /** @param options.hasDisks whether disks can be filled; without them those faults are kills. */
  constructor(rng: Prng, options: { readonly hasDisks: boolean }) {
    this.#rng = rng;
    this.#hasDisks = options.hasDisks;
  }

  /** The next fault. */
  next(): Fault {
    const lot = this.#rng.below(100);
    if (lot < 32) return { kind: 'kill', victims: [this.#victim(victimRoles)] };
    if (lot < 42)
      return {
        kind: 'kill',
        victims: Array.from({ length: 2 + this.#rng.below(4) }, () => this.#victim(victimRoles)),
      };
    if (lot < 48) return { kind: 'killRoles', roles: [this.#pick(processRoles), this.#pick(processRoles)] };
    if (lot < 51) return { kind: 'killAll' };
    if (lot < 55) return { kind: 'away', forMs: 2_000 + this.#time(18_000) };
    if (lot < 73)
      return {
        kind: 'pause',
        victims: Array.from({ length: 1 + this.#rng.below(2) }, () => this.#victim([...processRoles, 'task'])),
        forMs: this.#time(20_000),
      };
    const [at, mode] = [this.#rng.fraction(), this.#pick(wireModes)];
    if (lot < 91) return { kind: 'wire', at, mode, forMs: this.#time(20_000) };
    if (!this.#hasDisks) return { kind: 'kill', victims: [this.#victim(processRoles)] };
    return { kind: 'disk', at, forMs: this.#time(8_000) };
  }

  #victim(roles: readonly VictimRole[]): Victim {
    return { role: this.#pick(roles), at: this.#rng.fraction() };
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#rng.below(list.length)] as T;
  }

  /** From 0.1 s on; short ones are as frequent as long ones. */
  #time(most: number): number {
    const share = this.#rng.fraction();
    return Math.round(100 + (most - 100) * share * share * share);
  }
}

/** The one at a fraction of a list; undefined when there is none. */
export function atFraction<T>(list: readonly T[], at: number): T | undefined {
  return list[Math.floor(at * list.length)];
}

/** A line for people. */
export function describeFault(fault: Fault): string {
  switch (fault.kind) {
    case 'kill':
      return `kill ${fault.victims.map(({ role }) => role).join(' ')}`;
    case 'killAll':
      return 'kill everything';
    case 'killRoles':
      return `kill all of ${[...new Set(fault.roles)].join(' and ')}`;
    case 'away':
      return `keep the broker away for ${fault.forMs} ms`;
    case 'pause':
      return `pause ${fault.victims.map(({ role }) => role).join(' ')} for ${fault.forMs} ms`;
    case 'wire':
      return `wire ${fault.mode} for ${fault.forMs} ms`;
    case 'disk':
      return `disk full for ${fault.forMs} ms`;
  }
}
