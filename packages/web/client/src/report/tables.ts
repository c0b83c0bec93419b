/**
 * Lets a table be sorted by a press on a heading, and searched. Numbers stand in `data-value`, in the unit that sorts
 * them.
 */
export function enhanceTable(table: HTMLTableElement): void {
  const body = table.tBodies[0];
  if (body === undefined) return;
  const rows = [...body.rows];
  for (const [column, head] of [...(table.tHead?.rows[0]?.cells ?? [])].entries()) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener('click', () => {
      const isDown = head.getAttribute('aria-sort') === 'ascending';
      for (const other of table.tHead?.rows[0]?.cells ?? []) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', isDown ? 'descending' : 'ascending');
      body.replaceChildren(...sortRows(rows, column, isDown));
    });
  }
  if (rows.length > 5) table.before(searchField(table, rows));
}

function sortRows(rows: readonly HTMLTableRowElement[], column: number, isDown: boolean): HTMLTableRowElement[] {
  const sorted = rows
    .map((row) => ({ row, key: getKey(row.cells[column]) }))
    .sort((one, other) => compareKeys(one.key, other.key));
  if (isDown) sorted.reverse();
  return sorted.map(({ row }) => row);
}

function getKey(cell: HTMLTableCellElement | undefined): number | string {
  const value = cell?.dataset['value'];
  return value === undefined ? (cell?.textContent ?? '') : Number(value);
}

function compareKeys(one: number | string, other: number | string): number {
  return typeof one === 'number' && typeof other === 'number'
    ? one - other
    : String(one).localeCompare(String(other), undefined, { numeric: true });
}

function searchField(table: HTMLTableElement, rows: readonly HTMLTableRowElement[]): HTMLElement {
  const label = document.createElement('label');
  label.className = 'search';
  const field = document.createElement('input');
  field.type = 'search';
  const found = document.createElement('span');
  found.setAttribute('role', 'status');
  label.append(`Search in ${table.caption?.textContent ?? 'this table'} `, field, found);
  field.addEventListener('input', () => {
    const words = field.value
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '');
    let count = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      if (!row.hidden) count += 1;
    }
    found.textContent = words.length === 0 ? '' : ` ${count} of ${rows.length}`;
  });
  return label;
}
