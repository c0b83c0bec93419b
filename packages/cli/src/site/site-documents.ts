import type { JsonOf, shapes } from '../json/shapes.ts';
import { renderPairs, renderTable } from '../output/table.ts';
import { showMoment } from '../output/units.ts';
import { findConnector } from './start-connector.ts';
import { findState, type HostFacts, type SiteRecord, type SiteState } from './site-record.ts';

/** A site and what its connector does. */
export interface SeenSite {
  readonly site: SiteRecord;
  /** The present state: the last report of an ended connector is out of date. */
  readonly status: SiteState['status'];
  readonly detail: string;
  readonly state: SiteState | undefined;
}

/** Looks at a site of a home folder; nothing is asked of the site itself. */
export function seeSite(home: string, site: SiteRecord): SeenSite {
  const state = findState(home, site.name);
  if (findConnector(home, site.name) !== undefined && state !== undefined)
    return { site, status: state.status, detail: state.detail, state };
  return {
    site,
    status: 'stopped',
    detail: `nobody keeps its connection; "mutirao site connect ${site.name}" does`,
    state,
  };
}

/** A site as JSON. */
export function siteJson({ site, status, detail, state = never }: SeenSite): JsonOf<typeof shapes.site> {
  const host = state.host ?? nowhere(site);
  return {
    name: site.name,
    ssh: site.ssh,
    ssh_options: site.sshOptions,
    manager: site.manager,
    status,
    since_unix_ms: state.sinceUnixMs || null,
    detail,
    code: status === 'stopped' ? '' : state.code,
    address: site.address,
    provider_options: site.providerOptions,
    system: host.system,
    folder: host.base,
    provider_pid: host.providerPid || null,
    provider_address: host.providerAddress,
    program_sha256: host.program,
    outdated: host.isOutdated,
  };
}

/** What is known of a site that nobody has tried to connect yet. */
const never: SiteState = { pid: 0, status: 'stopped', sinceUnixMs: 0, detail: '', code: '', host: undefined };

function nowhere({ folder }: SiteRecord): HostFacts {
  return { system: '', base: folder, providerPid: 0, providerAddress: '', program: '', isOutdated: false };
}

/** Sites as a table. */
export function siteTable(sites: readonly SeenSite[], nowUnixMs: number): string[] {
  return renderTable(
    [
      { title: 'SITE' },
      { title: 'SSH' },
      { title: 'MANAGER' },
      { title: 'STATUS' },
      { title: 'SINCE' },
      { title: 'ADDRESS' },
      { title: 'DETAIL' },
    ],
    sites.map(({ site, status, detail, state }) => [
      site.name,
      site.ssh,
      site.manager,
      status,
      showMoment(state?.sinceUnixMs ?? 0, nowUnixMs),
      site.address,
      detail,
    ]),
  );
}

/** One site, a line for each thing. */
export function sitePairs({ site, status, detail, state = never }: SeenSite, nowUnixMs: number): string[] {
  const host = state.host ?? nowhere(site);
  return renderPairs([
    ['site', site.name],
    ['ssh', [site.ssh, ...site.sshOptions].join(' ')],
    ['status', `${status} since ${showMoment(state.sinceUnixMs, nowUnixMs)}`],
    ['why', detail],
    ['manager', site.processors > 0 ? `${site.manager}, of ${site.processors} processors` : site.manager],
    ['provider options', site.providerOptions.join(' ')],
    ['address here', site.address],
    ['address there', host.providerAddress],
    ['system', host.system],
    ['folder there', host.base],
    [
      'provider there',
      host.providerPid === 0 ? '' : `process ${host.providerPid}, executable ${host.program.slice(0, 12)}`,
    ],
  ]);
}
