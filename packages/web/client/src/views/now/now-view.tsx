import type { ReactNode } from 'react';
import { useLive } from '../../page-context.tsx';
import { Loading } from '../../parts/notices.tsx';
import { EventsPanel } from './events-panel.tsx';
import { GlancePanel } from './glance-panel.tsx';
import { JobsPanel } from './jobs-panel.tsx';
import { LatelyPanels } from './lately-panels.tsx';
import { LedgerPanel } from './ledger-panel.tsx';
import { MachinesPanel } from './machines-panel.tsx';
import { ProvidersPanel } from './providers-panel.tsx';

/**
 * The grid as it is now. What lies below the jobs comes when these are there: nothing that is being read moves then.
 */
export function NowView(): ReactNode {
  const hasJobs = useLive((state) => state.jobs !== undefined && state.summary !== undefined);
  const hasMachines = useLive((state) => state.machines !== undefined && state.providers !== undefined);
  return (
    <div className="view now">
      <h1 className="unseen">The grid now</h1>
      <GlancePanel />
      {hasJobs ? <JobsPanel /> : <Loading what="the grid" />}
      {hasJobs ? <LatelyPanels /> : null}
      {hasJobs && hasMachines ? (
        <>
          <MachinesPanel />
          <ProvidersPanel />
          <LedgerPanel />
          <EventsPanel />
        </>
      ) : null}
    </div>
  );
}
