import type { ReactNode } from 'react';
import { EventsPanel } from './events-panel.tsx';
import { GlancePanel } from './glance-panel.tsx';
import { JobsPanel } from './jobs-panel.tsx';
import { BusyPanel, PacePanel } from './lately-panels.tsx';
import { LedgerPanel } from './ledger-panel.tsx';
import { MachinesPanel } from './machines-panel.tsx';
import { ProvidersPanel } from './providers-panel.tsx';

/** The grid as it is now. */
export function NowView(): ReactNode {
  return (
    <div className="view now">
      <h1 className="unseen">The grid now</h1>
      <GlancePanel />
      <JobsPanel />
      <PacePanel />
      <BusyPanel />
      <MachinesPanel />
      <ProvidersPanel />
      <LedgerPanel />
      <EventsPanel />
    </div>
  );
}
