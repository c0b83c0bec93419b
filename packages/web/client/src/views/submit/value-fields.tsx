import type { ReactNode } from 'react';
import type { BagDraft } from '../../model/bag-draft.ts';
import type { Basket } from './file-basket.tsx';

/** A labelled field of a form. */
export function FormField({
  id,
  label,
  hint,
  value,
  rows = 1,
  placeholder = '',
  onChange,
}: {
  readonly id: string;
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly rows?: number;
  readonly placeholder?: string;
  readonly onChange: (text: string) => void;
}): ReactNode {
  const shared = { id, value, placeholder, spellCheck: false };
  return (
    <div className="field">
      <label htmlFor={id}>
        {label}
        {hint === undefined ? null : <span className="faint"> {hint}</span>}
      </label>
      {rows === 1 ? (
        <input {...shared} onChange={(event) => onChange(event.target.value)} />
      ) : (
        <textarea {...shared} className="code" rows={rows} onChange={(event) => onChange(event.target.value)} />
      )}
    </div>
  );
}

/** Whether tasks start in the folder of the job instead of an empty one. */
export function InPlaceField({
  id,
  isChecked,
  onChange,
}: {
  readonly id: string;
  readonly isChecked: boolean;
  readonly onChange: (isChecked: boolean) => void;
}): ReactNode {
  return (
    <div className="field">
      <label htmlFor={id}>
        <input id={id} type="checkbox" checked={isChecked} onChange={(event) => onChange(event.target.checked)} /> Tasks
        start in that folder{' '}
        <span className="faint">on machines that share it; nothing is copied, one replica of a task at a time</span>
      </label>
    </div>
  );
}

const kinds = [
  ['array', 'Numbers'],
  ['list', 'A list'],
  ['csv', 'A table'],
  ['single', 'One task'],
] as const;

/** What the tasks differ by. */
export function ValueFields({
  draft,
  change,
  basket,
}: {
  readonly draft: BagDraft;
  readonly change: (next: Partial<BagDraft>) => void;
  readonly basket: Basket;
}): ReactNode {
  return (
    <>
      <div className="field">
        <span className="label" id="bag-kind">
          Tasks differ by
        </span>
        <div className="choice" role="group" aria-labelledby="bag-kind">
          {kinds.map(([kind, title]) => (
            <button key={kind} type="button" aria-pressed={draft.kind === kind} onClick={() => change({ kind })}>
              {title}
            </button>
          ))}
        </div>
      </div>
      {draft.kind === 'array' ? (
        <FormField
          id="bag-selector"
          label="Numbers"
          hint="1-1000, 0-90:10 or 1,3,5-8"
          value={draft.selector}
          onChange={(selector) => change({ selector })}
        />
      ) : null}
      {draft.kind === 'list' ? (
        <FormField
          id="bag-list"
          label="Values"
          hint="one per line"
          rows={6}
          value={draft.list}
          onChange={(list) => change({ list })}
        />
      ) : null}
      {draft.kind === 'csv' ? (
        <>
          <FormField
            id="bag-csv"
            label="CSV"
            hint="with a heading; {name} in the command stands for the column of that name"
            rows={6}
            value={draft.csv}
            onChange={(csv) => change({ csv })}
            placeholder={'seed,rate\n1,0.3\n2,0.5'}
          />
          {basket.tables.length === 0 ? null : (
            <p className="row take-values">
              {basket.tables.map(({ name, text }) => (
                <button key={name} type="button" className="small" onClick={() => change({ csv: text })}>
                  Take the values from {name}
                </button>
              ))}
            </p>
          )}
        </>
      ) : null}
    </>
  );
}
