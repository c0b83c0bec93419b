import { snapshot } from '@mutirao/core/machines/broker';
import { takeSnapshot, type ClusterState } from '@mutirao/core/machines/cluster';
import { freezeProvider, type ProviderState } from '@mutirao/core/machines/provider';
import { invariant } from '@mutirao/core/shared';
import type { World } from '../world.ts';
import type { WorldCheck } from './check.ts';

/** Whoever would start now from the disk would know what the living process knows, but for what is of the moment. */
export class ReplayCheck implements WorldCheck {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  look(): void {
    const { broker, clusters, labs } = this.#world;
    const home = broker.current;
    if (home !== undefined) compare('the broker', snapshot(home.process.state), snapshot(home.recover()));
    for (const { provider } of [...clusters, ...labs]) {
      const { current } = provider;
      if (current !== undefined) compare(provider.name, describeProvider(current.process.state), describeProvider(current.recover()));
    }
    for (const { cluster } of clusters) {
      const { current } = cluster;
      if (current !== undefined) compare(cluster.name, describeCluster(current.process.state), describeCluster(current.recover()));
    }
  }
}

function compare(name: string, living: string, replayed: string): void {
  if (living === replayed) return;
  let at = 0;
  while (living[at] === replayed[at]) at += 1;
  const from = Math.max(0, at - 60);
  invariant(false, `${name} would start with ...${replayed.slice(from, at + 40)}... and has ...${living.slice(from, at + 40)}...`);
}

/** Without what is seen, and not promised. */
function describeProvider(state: ProviderState): string {
  const { requests, ...promised } = freezeProvider(state);
  return JSON.stringify([promised, requests.map((request) => ({ ...request, seenAt: 0, unknownSince: 0, missedListings: 0, releaseAskedAt: 0 }))]);
}

/** With what is found by it. */
function describeCluster(state: ClusterState): string {
  return JSON.stringify([takeSnapshot(state), [...state.livingCounts].sort(), state.requestsByKey.size, state.processorsBusy]);
}
