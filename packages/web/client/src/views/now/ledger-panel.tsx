import type { ReactNode } from 'react';
import type { Ledger } from '../../../../src/schema/index.ts';
import { ledgerInks } from '../../model/palette.ts';
import { sayProcessorTime, sayShare } from '../../model/words.ts';
import { useLive } from '../../page-context.tsx';
import { Legend, StackedBar } from '../../parts/legend.tsx';
import { Empty, Loading, Panel } from '../../parts/notices.tsx';

/** Where the processor-time of the whole grid went. */
export function LedgerPanel(): ReactNode {
  const ledger = useLive((state) => state.ledger);
  return <Panel title="Processor-time">{ledger === undefined ? <Loading what="the ledger" /> : <LedgerPicture ledger={ledger} />}</Panel>;
}

type Times = Ledger['total'];

/** A bar for all and one for each provider, with shares of what was held. */
export function LedgerPicture({ ledger: { total, by_provider: providers } }: { readonly ledger: Ledger }): ReactNode {
  if (total.held_processor_ms === 0) return <Empty title="No processor has been held yet." />;
  return (
    <div className="ledger">
      <p className="lead"><b>{sayProcessorTime(total.held_processor_ms)}</b> held, {sayShare(total.used_processor_ms, total.held_processor_ms)} of it used for results; {sayProcessorTime(total.requested_processor_ms)} requested.</p>
      <Legend inks={Object.values(ledgerInks)} counts={partsOf(total).map(({ value }) => sayShare(value, total.held_processor_ms))} />
      {[{ provider_id: 'all', ...total }, ...providers].map((row) => (
        <div className="ledger-row" key={row.provider_id}>
          <span>{row.provider_id}</span><StackedBar parts={partsOf(row)} label={`${row.provider_id}: ${partsOf(row).map(({ ink, value }) => `${ink.title} ${sayShare(value, row.held_processor_ms)}`).join(', ')}`} />
          <span className="numbers faint">{sayProcessorTime(row.held_processor_ms)}</span>
        </div>
      ))}
    </div>
  );
}

function partsOf(times: Times): { readonly ink: (typeof ledgerInks)[keyof typeof ledgerInks]; readonly value: number }[] {
  return [
    { ink: ledgerInks.used, value: times.used_processor_ms }, { ink: ledgerInks.losers, value: times.losers_processor_ms },
    { ink: ledgerInks.killed, value: times.killed_processor_ms }, { ink: ledgerInks.idle, value: times.idle_processor_ms },
  ];
}
