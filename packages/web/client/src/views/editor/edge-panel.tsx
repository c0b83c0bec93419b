import type { ReactNode } from 'react';
import type { Workflow } from '../../../../src/schema/index.ts';
import { NumberField } from './property-fields.tsx';
import type { Editor } from './use-editor.ts';

/** The properties of the edge that is selected. */
export function EdgePanel({
  edge: { from, to, data_bytes: bytes, share },
  editor,
}: {
  readonly edge: Workflow['edges'][number];
  readonly editor: Editor;
}): ReactNode {
  const change = (field: string, next: { readonly data_bytes?: number; readonly share?: number }): void => {
    editor.apply({ kind: 'ChangeEdge', from, to, change: next }, `edge ${from} ${to} ${field}`);
  };
  const go = (id: string): void => editor.select({ tasks: new Set([id]), edges: new Set() });
  return (
    <div className="properties">
      <h3>Edge</h3>
      <p className="lead">
        <button type="button" className="link" onClick={() => go(to)}>
          {to}
        </button>{' '}
        waits for{' '}
        <button type="button" className="link" onClick={() => go(from)}>
          {from}
        </button>
        .
      </p>
      <NumberField
        id="edge-bytes"
        label="Data in addition to files, bytes"
        value={bytes}
        onChange={(next) => change('bytes', { data_bytes: next })}
      />
      <NumberField
        id="edge-share"
        label="Transfer, as a share of the sender's run time"
        value={share}
        onChange={(next) => change('share', { share: next })}
      />
      <button type="button" onClick={editor.removeSelected}>
        Remove the edge
      </button>
    </div>
  );
}
