/** How cells of machines are laid out in a picture: square cells, row by row. */
export interface MachineGrid {
  readonly columns: number;
  readonly rows: number;
  /** Edge of a cell with its gap, in pixels. */
  readonly pitch: number;
  readonly height: number;
}

const pitchMax = 18;
const pitchMin = 3;

/**
 * The largest cells of which `count` fit into a width and a height; the height grows only if cells would be too small
 * to press.
 */
export function layOutMachines(count: number, width: number, heightWanted: number): MachineGrid {
  for (let pitch = pitchMax; pitch >= pitchMin; pitch -= 1) {
    const columns = Math.max(1, Math.floor(width / pitch));
    const rows = Math.max(1, Math.ceil(count / columns));
    if (rows * pitch <= heightWanted || pitch === pitchMin) return { columns, rows, pitch, height: rows * pitch };
  }
  return { columns: 1, rows: count, pitch: pitchMin, height: count * pitchMin };
}

/** The machine at a place of the picture; undefined outside the cells. */
export function machineAt(
  { columns, pitch }: MachineGrid,
  count: number,
  place: { readonly x: number; readonly y: number },
): number | undefined {
  const [column, row] = [Math.floor(place.x / pitch), Math.floor(place.y / pitch)];
  const index = row * columns + column;
  return column >= 0 && column < columns && row >= 0 && index < count ? index : undefined;
}

/** The machine that an arrow key leads to from another one, kept within the picture. */
export function machineBeside(
  { columns }: MachineGrid,
  count: number,
  from: { readonly index: number; readonly key: string },
): number | undefined {
  const steps: Readonly<Record<string, number>> = {
    ArrowLeft: -1,
    ArrowRight: 1,
    ArrowUp: -columns,
    ArrowDown: columns,
    Home: -count,
    End: count,
  };
  const step = steps[from.key];
  return step === undefined ? undefined : Math.min(count - 1, Math.max(0, from.index + step));
}
