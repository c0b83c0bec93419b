import { useMemo, useState, type ReactNode } from 'react';
import type { Workflow, WorkflowTask } from '../../../../src/schema/index.ts';
import type { Editor } from './use-editor.ts';

const shownMax = 40;
const suggestedMax = 30;

/** What a task waits for, and what waits for it; the way to draw and remove edges without a pointer. */
export function TaskLinks({ task, editor }: { readonly task: WorkflowTask; readonly editor: Editor }): ReactNode {
  const { workflow, apply, select } = editor;
  const [wanted, setWanted] = useState('');
  const before = workflow.edges.filter(({ to }) => to === task.id).map(({ from }) => from);
  const after = workflow.edges.filter(({ from }) => from === task.id).map(({ to }) => to);
  const suggestions = useMemo(() => suggestionsFor(wanted, workflow.tasks), [wanted, workflow.tasks]);
  const add = (): void => {
    if (wanted !== '' && apply({ kind: 'AddEdge', from: wanted, to: task.id })) setWanted('');
  };
  const go = (id: string): void => select({ tasks: new Set([id]), edges: new Set() });
  const remove = (from: string, to: string): void => {
    apply({ kind: 'RemoveParts', taskIds: new Set(), edges: [{ from, to }] });
  };
  return (
    <>
      <h3>Waits for</h3>
      <Links ids={before} go={go} remove={(id) => remove(id, task.id)} />
      <div className="row add-edge">
        <input
          list="task-ids"
          aria-label="Task to wait for"
          placeholder="a task's name"
          value={wanted}
          onChange={(event) => setWanted(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') add();
          }}
        />
        <datalist id="task-ids">
          {suggestions.map((id) => (
            <option key={id} value={id} />
          ))}
        </datalist>
        <button type="button" onClick={add} disabled={wanted === ''}>
          Add
        </button>
      </div>
      {after.length === 0 ? null : (
        <>
          <h3>Before</h3>
          <Links ids={after} go={go} remove={(id) => remove(task.id, id)} />
        </>
      )}
    </>
  );
}

/**
 * Names that what is typed is a part of; none before anything is, since thousands would be one too many to look
 * through.
 */
function suggestionsFor(typed: string, tasks: Workflow['tasks']): string[] {
  const found: string[] = [];
  for (const { id } of tasks) {
    if (found.length === suggestedMax) break;
    if (typed !== '' && id.includes(typed)) found.push(id);
  }
  return found;
}

function Links({
  ids,
  go,
  remove,
}: {
  readonly ids: readonly string[];
  readonly go: (id: string) => void;
  readonly remove: (id: string) => void;
}): ReactNode {
  if (ids.length === 0) return <p className="hint">nothing</p>;
  return (
    <ul className="plain-list">
      {ids.slice(0, shownMax).map((id) => (
        <li key={id} className="row">
          <button type="button" className="link" onClick={() => go(id)}>
            {id}
          </button>
          <button
            type="button"
            className="quiet small end"
            onClick={() => remove(id)}
            aria-label={`Remove the edge with ${id}`}
          >
            ✕
          </button>
        </li>
      ))}
      {ids.length > shownMax ? <li className="faint">and {ids.length - shownMax} more</li> : null}
    </ul>
  );
}
