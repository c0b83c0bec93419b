import type { CommandContext } from '../context.ts';
import { embeddedManager, GridPlan, noManager, type GridSize } from './plan.ts';
import { startPart, withGrid, type Starting } from './run-grid.ts';
import type { GridRecord } from './record.ts';

/** What a submission's own grid obtains machines from. */
export interface HereSite {
  /** The options of the provider that say so; undefined where an embedded cluster starts with the grid. */
  readonly manager: readonly string[] | undefined;
  /** Processors of this host that are used: by the cluster that is started, or by an agent. */
  readonly processors: number;
  /** Further options of the processes. */
  readonly settings: GridSize['settings'];
}

/** The provider, and the cluster where there is one, in lists of requests and machines. */
const siteName = 'here';

/**
 * Longest time that the provider takes to give all requests back; a cluster that ends with the grid takes them with it.
 */
const releaseMax = 20_000;
const ownClusterReleaseMax = 3_000;
/**
 * Agents that are without their provider for longer end: what starts after everything else was killed ends by itself.
 */
const orphanTimeout = 60_000;

/**
 * Runs broker, provider and, where nothing else supplies machines, cluster or agent in the context's home folder for as
 * long as `work` takes.
 *
 * All of them end when this process is gone, however it ends: the provider takes its requests out first.
 *
 * @throws {MutiraoError} as `withGrid`, and what `work` throws.
 */
export async function runHere(context: CommandContext, site: HereSite, work: () => Promise<void>): Promise<void> {
  const { agent, broker, cluster, provider } = site.settings;
  const release = site.manager === undefined ? ownClusterReleaseMax : releaseMax;
  const ownProvider = [
    '--release-on-stop',
    `${release}ms`,
    '--agent-orphan-timeout',
    `${orphanTimeout}ms`,
    ...provider,
  ];
  const size: GridSize = {
    clusters: [],
    machines: 0,
    machineProcessors: site.processors,
    isLeashed: true,
    settings: { agent, broker, cluster, provider: ownProvider, reservations: [], web: [] },
  };
  await withGrid(context, size, { endMax: releaseMax + 10_000, start: (starting) => startHere(starting, site), work });
}

async function startHere(
  starting: Starting,
  site: HereSite,
): Promise<Pick<GridRecord, 'broker' | 'clusters'> | undefined> {
  const {
    context: { home, signal },
    size,
  } = starting;
  const plan = new GridPlan(home, size);
  const cluster =
    site.manager === undefined ? await startPart(starting, plan.cluster(siteName, site.processors)) : undefined;
  const manager = site.manager ?? embeddedManager(cluster ?? '');
  const provider = await startPart(starting, plan.provider(siteName, manager));
  if (manager === noManager) await startPart(starting, plan.agent(`${siteName}/m1`, provider));
  const broker = await startPart(starting, plan.broker([{ name: siteName, address: provider }]));
  if (signal.aborted) return undefined;
  return {
    broker,
    clusters: cluster === undefined ? [] : [{ name: siteName, processors: site.processors, cluster, provider }],
  };
}
