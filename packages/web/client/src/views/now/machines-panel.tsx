import { useCallback, useState, type KeyboardEvent, type PointerEvent, type ReactNode } from 'react';
import type { MachineOverview } from '../../../../src/schema/index.ts';
import { layOutMachines, machineAt, machineBeside, type MachineGrid } from '../../model/machine-grid.ts';
import { getInk, machineInks } from '../../model/palette.ts';
import { sayCount, sayDuration, sayMany } from '../../model/words.ts';
import { useLive, usePage } from '../../page-context.tsx';
import { Canvas, fillOf, type Brush } from '../../parts/canvas.tsx';
import { Legend } from '../../parts/legend.tsx';
import { Empty, Loading, Panel } from '../../parts/notices.tsx';
import { TipBox } from '../../parts/tip.tsx';
import { useTip, type Tip } from '../../parts/tip-state.ts';
import { useWidth } from '../../parts/use-width.ts';

type Site = MachineOverview['sites'][number];

/** Machines by site: a cell each, in the colour of its status. */
export function MachinesPanel(): ReactNode {
  const overview = useLive((state) => state.machines);
  const counts = (['busy', 'idle', 'draining', 'quarantined'] as const).map(
    (status) => overview?.sites.reduce((sum, site) => sum + site[status], 0) ?? 0,
  );
  return (
    <Panel
      title="Machines"
      className="wide"
      aside={
        <Legend
          inks={['busy', 'idle', 'draining', 'quarantined'].map((name) => getInk(machineInks, name))}
          counts={counts}
        />
      }
    >
      {overview === undefined ? (
        <Loading what="the machines" />
      ) : overview.sites.length === 0 ? (
        <Empty title="No machines now.">
          Machines appear when a cluster grants a request, or when one joins a lab; requests and their reasons are
          below.
        </Empty>
      ) : (
        <div className="sites">
          {overview.sites.map((site) => (
            <SiteCells key={site.provider_id} site={site} statuses={overview.statuses} />
          ))}
        </div>
      )}
    </Panel>
  );
}

function SiteCells({ site, statuses }: { readonly site: Site; readonly statuses: readonly string[] }): ReactNode {
  const { explain } = usePage();
  const [ref, width] = useWidth();
  const [cursor, setCursor] = useState(-1);
  const [tip, setTip] = useTip();
  const ids = site.machines.machine_id;
  const grid = layOutMachines(ids.length, width, 150);
  const draw = useCallback(
    (brush: Brush) => drawCells(brush, { site, statuses, grid, cursor }),
    [site, statuses, grid.columns, grid.pitch, cursor],
  );
  const at = (event: PointerEvent<HTMLCanvasElement>): number | undefined =>
    machineAt(grid, ids.length, { x: event.nativeEvent.offsetX, y: event.nativeEvent.offsetY });
  const open = (index: number | undefined): void => {
    const machineId = ids[index ?? -1];
    if (machineId !== undefined) explain({ kind: 'machine', machineId });
  };
  const report = (index: number | undefined): void => {
    setCursor(index ?? -1);
    setTip(index === undefined ? undefined : getTip(site, { statuses, grid, index }));
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') open(cursor);
    const next = machineBeside(grid, ids.length, { index: cursor, key: event.key });
    if (next === undefined) return;
    event.preventDefault();
    report(next);
  };
  return (
    <div className="site">
      <h3>
        {site.provider_id}{' '}
        <span className="faint">
          {sayMany(site.machine_count, 'machine')}, {sayMany(site.processors, 'processor')},{' '}
          {sayCount(site.running_count)} running
        </span>
      </h3>
      <div className="picture" ref={ref}>
        <Canvas
          draw={draw}
          height={grid.height}
          tabIndex={0}
          role="img"
          aria-label={
            `${site.provider_id}: ${site.busy} busy, ${site.idle} idle, ${site.draining} draining, ` +
            `${site.quarantined} quarantined. ${tip?.text ?? 'Arrow keys select a machine, Enter opens it.'}`
          }
          onPointerMove={(event) => report(at(event))}
          onPointerLeave={() => report(undefined)}
          onBlur={() => report(undefined)}
          onClick={() => open(cursor)}
          onKeyDown={press}
        />
        <TipBox tip={tip} width={width} />
      </div>
      {site.left_out_count > 0 ? (
        <p className="hint">{sayMany(site.left_out_count, 'more machine')} not drawn.</p>
      ) : null}
    </div>
  );
}

function getTip(
  { machines }: Site,
  {
    statuses,
    grid,
    index,
  }: { readonly statuses: readonly string[]; readonly grid: MachineGrid; readonly index: number },
): Tip {
  const until = machines.until_unix_ms[index] ?? 0;
  const leaves = until === 0 ? '' : `, leaves in ${sayDuration(Math.max(0, until - Date.now()))}`;
  const status = statuses[machines.status[index] ?? 0] ?? '';
  return {
    x: (index % grid.columns) * grid.pitch,
    y: Math.floor(index / grid.columns) * grid.pitch + grid.pitch / 2,
    text:
      `${machines.machine_id[index] ?? ''}: ${status}, runs ${machines.running[index] ?? 0} on ` +
      `${sayMany(machines.processors[index] ?? 0, 'processor')}${leaves}`,
  };
}

function drawCells(
  brush: Brush,
  {
    site: { machines },
    statuses,
    grid,
    cursor,
  }: { readonly site: Site; readonly statuses: readonly string[]; readonly grid: MachineGrid; readonly cursor: number },
): void {
  const { context } = brush;
  const gap = grid.pitch > 8 ? 3 : grid.pitch > 4 ? 1 : 0.5;
  const size = grid.pitch - gap;
  const places: number[][] = statuses.map(() => []);
  machines.status.forEach((status, index) => places[status]?.push(index));
  // A path for each status: a change of colour costs more than a cell.
  places.forEach((indexes, status) => {
    context.fillStyle = fillOf(brush, getInk(machineInks, statuses[status] ?? ''));
    context.beginPath();
    for (const index of indexes) {
      const [x, y] = [(index % grid.columns) * grid.pitch, Math.floor(index / grid.columns) * grid.pitch];
      if (size > 8) context.roundRect(x, y, size, size, 3);
      else context.rect(x, y, size, size);
    }
    context.fill();
  });
  if (cursor < 0) return;
  context.strokeStyle = brush.text;
  context.lineWidth = 1.5;
  context.strokeRect((cursor % grid.columns) * grid.pitch, Math.floor(cursor / grid.columns) * grid.pitch, size, size);
}
