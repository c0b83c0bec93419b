import type { HeuristicSetting } from '@mutirao/core/machines/provider';
import { heuristicNames } from '@mutirao/core/requests';
import { Prng, type Duration } from '@mutirao/core/shared';
import type { ClusterProcess } from './cluster-process.ts';
import { submitLocally } from './local-users.ts';
import type { FallPoint } from './machine-process.ts';
import type { World } from './world.ts';

const hour: Duration = 3_600_000;
const fullDiskMax: Duration = 120_000;
const nodeAwayMax: Duration = 600_000;
/** Longer than an agent's grace, and shorter than the time within which an end explains a loss. */
const preemptionListedWithin: Duration = 45_000;
const brokerAwayMax: Duration = 120_000;
const providerAwayMax: Duration = 60_000;
const drainedMax: Duration = 900_000;
const fallPoints: readonly FallPoint[] = ['before-write', 'after-write', 'amid-commands'];

/**
 * Lets things go wrong in a world, as its scenario says, until it is stopped. Everything is drawn from the scenario's
 * seed.
 */
export class Storm {
  readonly #world: World;
  readonly #rng: Prng;

  constructor(world: World) {
    this.#world = world;
    this.#rng = new Prng(`storm ${world.scenario.seed}`);
    const {
      crashesPerHour,
      fallsPerHour,
      pausesPerHour,
      cutsPerHour,
      breaksPerHour,
      fullDisksPerHour,
      journalLossesPerHour = 0,
      clockStepsPerHour = 0,
    } = world.scenario.faults;
    this.#strike('crash', crashesPerHour, (rng) => {
      this.#crash(rng);
    });
    this.#strike('fall', fallsPerHour, (rng) => {
      this.#fall(rng);
    });
    this.#strike('pause', pausesPerHour, (rng) => {
      this.#pause(rng);
    });
    this.#strike('cut', cutsPerHour, (rng) => {
      this.#cut(rng);
    });
    this.#strike('break', breaksPerHour, (rng) => {
      this.#break(rng);
    });
    this.#strike('full disk', fullDisksPerHour, (rng) => {
      this.#fillDisk(rng);
    });
    this.#strike('journal', journalLossesPerHour, (rng) => {
      this.#loseJournal(rng);
    });
    this.#strike('clock', clockStepsPerHour, (rng) => {
      this.#setClock(rng);
    });
    this.#strike('switch', world.scenario.heuristicSwitchesPerHour ?? 0, (rng) => {
      this.#switchHeuristic(rng);
    });
    this.#strike('drain', world.scenario.drainsPerHour ?? 0, (rng) => {
      this.#drain(rng);
    });
    this.#loadClusters();
    this.#wearLabs();
    this.#letHomeSleep();
  }

  /** Strikes again and again, `perHour` times in an hour on average. */
  #strike(name: string, perHour: number, act: (rng: Prng) => void): void {
    if (perHour === 0) return;
    const rng = this.#rng.fork(name);
    const next = (): void => {
      this.#world.kernel.after((-Math.log(1 - rng.fraction()) * hour) / perHour, () => {
        if (!this.#world.isStormy) return;
        act(rng);
        next();
      });
    };
    next();
  }

  #crash(rng: Prng): void {
    const process = pick(rng, this.#world.processes());
    if (process === undefined) return;
    if (rng.below(2) === 0) {
      this.#world.report('ProcessCrashed', [process]);
      process.life.end();
      return;
    }
    const point = fallPoints[rng.below(fallPoints.length)] ?? 'after-write';
    this.#world.report('ProcessCrashed', [process], `in its next turn, ${point}`);
    process.process.fallAt(point);
  }

  #fall(rng: Prng): void {
    const host = pick(rng, this.#world.hosts);
    if (host === undefined) return;
    this.#world.report('HostFell', this.#world.processesOn(host), host.name);
    this.#world.fall(host, rng);
  }

  #setClock(rng: Prng): void {
    const host = pick(rng, this.#world.hosts);
    const { skewMax } = this.#world.scenario.faults;
    if (host === undefined) return;
    const skew = rng.below(2 * skewMax + 1) - skewMax;
    this.#world.report('ClockSet', this.#world.processesOn(host), `by ${skew - host.skew} ms`);
    host.setSkew(skew);
  }

  #pause(rng: Prng): void {
    const process = pick(rng, this.#world.processes());
    if (process === undefined) return;
    const duration = 1 + rng.below(Math.max(1, this.#world.scenario.faults.pauseMax));
    process.life.pausedUntil = this.#world.kernel.now + duration;
    this.#world.report('ProcessPaused', [process], `for ${duration} ms`);
  }

  /** Cuts hosts that talk to each other, so that the cut is noticed. */
  #cut(rng: Prng): void {
    const stream = pick(rng, this.#world.network.openStreams);
    if (stream === undefined) return;
    const [one, other] = stream.hosts;
    if (one === other) return;
    const duration = 1 + rng.below(Math.max(1, this.#world.scenario.faults.cutMax));
    this.#world.report(
      'HostsCut',
      [...this.#world.processesOn(one), ...this.#world.processesOn(other)],
      `${one.name} from ${other.name} for ${duration} ms`,
    );
    this.#world.network.cut(one, other, duration);
  }

  #break(rng: Prng): void {
    const stream = pick(rng, this.#world.network.openStreams);
    if (stream === undefined) return;
    const [one, other] = stream.hosts;
    this.#world.report(
      'StreamBroken',
      [...this.#world.processesOn(one), ...this.#world.processesOn(other)],
      `${one.name} to ${other.name}`,
    );
    stream.break();
  }

  #fillDisk(rng: Prng): void {
    const node = pick(
      rng,
      this.#world.nodes().filter(({ disk }) => disk !== undefined),
    );
    if (node?.disk === undefined) return;
    const { disk, current } = node;
    const duration = rng.below(fullDiskMax);
    this.#world.report('DiskFilled', current === undefined ? [] : [current], `of ${node.name} for ${duration} ms`);
    disk.isFull = true;
    this.#world.kernel.after(duration, () => {
      disk.isFull = false;
    });
  }

  /**
   * After some losses the sites return only when the next broker has jobs already: a power cut takes all, and home is
   * back first.
   */
  #loseJournal(rng: Prng): void {
    const awayFor = rng.below(brokerAwayMax);
    const sites = rng.below(2) === 0 ? [] : [...this.#world.clusters, ...this.#world.labs];
    this.#world.loseJournal(awayFor);
    for (const { provider } of sites) {
      provider.downUntil = this.#world.kernel.now + awayFor + rng.below(providerAwayMax);
      provider.current?.life.end();
    }
  }

  /** The user switches the heuristic of a cluster's provider, sometimes to one that does not exist. */
  #switchHeuristic(rng: Prng): void {
    const site = pick(rng, this.#world.clusters);
    const heuristic = pick(rng, [...heuristicNames, 'none such', '']) ?? '';
    const defaultTime = pick(rng, [undefined, 1_000, 600_000]);
    const provider = site?.provider.current;
    if (provider === undefined) return;
    this.#world.report('HeuristicAsked', [provider], heuristic);
    provider.process.ask(
      (replyTo) => ({ kind: 'HeuristicAsked', replyTo, heuristic, defaultTime }),
      (reply) => {
        if (reply.ok) this.#world.heuristics.report(provider.process.name, (reply.value as HeuristicSetting).heuristic);
      },
    );
  }

  /**
   * The owner drains a machine, and a provider, sometimes at once, and undrains them some time later; a few do so
   * twice.
   */
  #drain(rng: Prng): void {
    const site = pick(rng, [...this.#world.clusters, ...this.#world.labs]);
    const isAtOnce = rng.below(4) === 0;
    const [again, duration] = [rng.below(drainedMax), rng.below(drainedMax)];
    this.#world.drainMachine(rng.fork('machine').fraction(), duration);
    if (site === undefined) return;
    const drain = (): void => {
      this.#world.setDraining(site.provider, isAtOnce ? 'at once' : 'gently');
    };
    drain();
    this.#world.kernel.after(again, () => {
      if (this.#world.isStormy && again < duration) drain();
    });
    this.#world.kernel.after(duration, () => {
      if (this.#world.isStormy) this.#world.setDraining(site.provider, 'not');
    });
  }

  /** A laptop is closed: its processes stop where they are, and others find its connections dead. */
  #letHomeSleep(): void {
    const { lease } = this.#world.scenario;
    if (lease === undefined) return;
    this.#strike('sleep', lease.sleepsPerHour, (rng) => {
      this.#world.sleep(1 + rng.below(Math.max(1, lease.sleepMax)));
    });
    for (const { after, duration } of lease.sleeps ?? [])
      this.#world.kernel.after(after, () => {
        if (this.#world.isStormy) this.#world.sleep(duration);
      });
  }

  /** Local users ask for processors too, and mostly for longer than they need. */
  #loadClusters(): void {
    for (const { plan, cluster } of this.#world.clusters) {
      this.#strike(`local users of ${cluster.name}`, plan.localPerHour, (rng) => {
        // Some ask for more than they may.
        const walltime = 1 + rng.below(Math.ceil(1.1 * plan.walltimeMax));
        const runTime = rng.below(walltime);
        submitLocally(cluster.current, {
          userId: `local${rng.below(5)}`,
          width: 1 + rng.below(plan.widthMax + 1),
          walltime,
          runTime,
        });
      });
      this.#strike(`preemptions of ${cluster.name}`, plan.preemptionsPerHour ?? 0, (rng) => {
        cluster.current?.preempt(rng.fraction(), rng.below(preemptionListedWithin));
      });
      this.#strike(`nodes of ${cluster.name}`, plan.nodeLossesPerHour ?? 0, (rng) => {
        this.#loseNode(cluster.current, 1 + rng.below(plan.processors), rng.below(nodeAwayMax));
      });
    }
  }

  #loseNode(cluster: ClusterProcess | undefined, count: number, duration: Duration): void {
    if (cluster === undefined) return;
    this.#world.report('NodeLost', [cluster], `of ${count} processors for ${duration} ms`);
    cluster.loseProcessors(count);
    this.#world.kernel.after(duration, () => {
      if (!cluster.life.isOver) cluster.loseProcessors(0);
    });
  }

  /** Lab machines go down now and then, for reasons of their own. */
  #wearLabs(): void {
    for (const { plan, agents } of this.#world.labs) {
      for (const [index, node] of agents.entries()) {
        if (plan.upTime !== undefined) this.#wear(node, plan.upTime, plan.downTime);
        for (const { after, duration } of plan.machines[index]?.downs ?? []) {
          this.#world.kernel.after(after, () => {
            if (this.#world.isStormy) this.#takeDown(node, duration);
          });
        }
      }
    }
  }

  #takeDown(node: LabNode, duration: Duration): void {
    node.downUntil = Math.max(node.downUntil, this.#world.kernel.now + duration);
    this.#world.report('MachineWentDown', node.current === undefined ? [] : [node.current], `for ${duration} ms`);
    node.current?.life.end();
  }

  #wear(node: LabNode, upTime: { readonly mean: Duration; readonly shape: number }, downTime: Duration): void {
    const rng = this.#rng.fork(`wear of ${node.name}`);
    const { kernel } = this.#world;
    const next = (): void => {
      kernel.after(drawWeibull(rng, upTime), () => {
        if (!this.#world.isStormy) return;
        this.#takeDown(node, downTime);
        kernel.at(node.downUntil, next);
      });
    };
    next();
  }
}

type LabNode = World['labs'][number]['agents'][number];

/** A time of a Weibull distribution with that mean; shape 0.5 is what idle lab machines were found to have. */
export function drawWeibull(rng: Prng, { mean, shape }: { readonly mean: Duration; readonly shape: number }): Duration {
  const scale = mean / gammaOfOnePlus(1 / shape);
  return scale * (-Math.log(1 - rng.fraction())) ** (1 / shape);
}

/** The gamma function at 1 + x, by Stirling's series above 7. */
function gammaOfOnePlus(x: number): number {
  let [factor, z] = [1, 1 + x];
  for (; z < 7; z += 1) factor *= z;
  const series = 1 + 1 / (12 * z) + 1 / (288 * z * z) - 139 / (51_840 * z ** 3);
  return (Math.sqrt((2 * Math.PI) / z) * (z / Math.E) ** z * series) / factor;
}

function pick<T>(rng: Prng, choices: readonly T[]): T | undefined {
  return choices.length === 0 ? undefined : choices[rng.below(choices.length)];
}
