import type { ReactNode } from 'react';
import type { Ledger } from '../../../../src/schema/index.ts';
import { buildLedgerOption, ledgerHeight, ledgerTable } from '../../charts/ledger-chart.ts';
import { ledgerInks } from '../../model/palette.ts';
import { sayProcessorTime, sayShare } from '../../model/words.ts';
import { useLive } from '../../page-context.tsx';
import { Chart } from '../../parts/chart.tsx';
import { Legend } from '../../parts/legend.tsx';
import { Empty, Loading, Panel } from '../../parts/notices.tsx';

/** Where the processor-time of the whole grid went. */
export function LedgerPanel(): ReactNode {
  const ledger = useLive((state) => state.ledger);
  return (
    <Panel title="Processor-time">
      {ledger === undefined ? <Loading what="the ledger" /> : <LedgerPicture ledger={ledger} />}
    </Panel>
  );
}

/** A bar for all and one for each provider, with shares of what was held. */
export function LedgerPicture({ ledger }: { readonly ledger: Ledger }): ReactNode {
  const {
    held_processor_ms: held,
    used_processor_ms: used,
    losers_processor_ms: losers,
    killed_processor_ms: killed,
    idle_processor_ms: idle,
    requested_processor_ms: requested,
  } = ledger.total;
  if (held === 0) return <Empty title="No allocations yet." />;
  const shares = [used, losers, killed, idle].map((part) => sayShare(part, held));
  return (
    <div className="ledger">
      <p className="lead">
        <b>{sayProcessorTime(held)}</b> allocated, {sayShare(used, held)} of it used for results;{' '}
        {sayProcessorTime(requested)} requested.
      </p>
      <Legend inks={Object.values(ledgerInks)} counts={shares} />
      <Chart
        data={ledger}
        build={buildLedgerOption}
        table={ledgerTable}
        height={ledgerHeight(ledger)}
        label={
          `Processor-time: ${shares[0]} was used for results, ${shares[1]} for duplicate runs, ` +
          `${shares[2]} for failed or killed runs, and ${shares[3]} was idle.`
        }
      />
    </div>
  );
}
