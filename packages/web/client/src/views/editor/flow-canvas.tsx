import { useCallback, useEffect, useMemo, useRef, useState, type MouseEvent, type ReactNode } from 'react';
import {
  Background,
  BackgroundVariant,
  ControlButton,
  Controls,
  ReactFlow,
  useReactFlow,
  type Connection,
  type Edge,
  type NodeChange,
} from '@xyflow/react';
import type { Workflow, WorkflowTask } from '../../../../src/schema/index.ts';
import type { WorkflowAnalysis } from '../../model/workflow/analysis.ts';
import { edgePaths, findEdgeAt, type Places } from '../../model/workflow/edge-lines.ts';
import { edgeId } from '../../model/workflow/edits.ts';
import { boxPaths, criticalParts, FlowParts } from '../../model/workflow/flow-parts.ts';
import { findEdgeFault, tasksById } from '../../model/workflow/graph.ts';
import { tasksIn, type Area } from '../../model/workflow/sight.ts';
import { GraphLines } from './graph-lines.tsx';
import { Overview } from './overview.tsx';
import { TaskNode, type TaskFlowNode } from './task-node.tsx';
import { nothingSelected, type Editor, type Selection } from './use-editor.ts';
import { useArea, useFitting, zoomMin } from './use-sight.ts';

const nodeTypes = { task: TaskNode };
const noPlaces: Places = new Map();
const noEdges: Edge[] = [];
const noBoxes: ReadonlyMap<string, string> = new Map();
/** More boxes than this in sight are too small to be read, and are drawn as one shape. */
const readableMax = 260;
const reachOfPress = 9;

/** What the canvas shows, and what may be done on it. */
export interface FlowCanvasProps {
  readonly workflow: Workflow;
  readonly analysis: WorkflowAnalysis;
  readonly statuses: ReadonlyMap<string, string>;
  /** Undefined where the graph is only looked at. */
  readonly editor?: Editor;
  readonly onOpen?: (id: string) => void;
  /** Another number has the whole graph brought into sight. */
  readonly fitting: number;
}

/**
 * The graph: tasks as boxes, what they wait for as lines. The graph library is given the boxes in sight and no others,
 * each the same object as long as it looks the same, and no lines:
 * what it does at each change grows with what it was given.
 */
export function FlowCanvas({ workflow, analysis, statuses, editor, onOpen, fitting }: FlowCanvasProps): ReactNode {
  const [dragged, setDragged] = useState(noPlaces);
  const [refusal, setRefusal] = useRefusal();
  const [drawnFrom, setDrawnFrom] = useState('');
  const selection = editor?.selection ?? nothingSelected;
  const view = { analysis, statuses, dragged, selectedTasks: selection.tasks };
  const { boxes, nodes, edges } = useDrawing(workflow, { ...view, selectedEdges: selection.edges, drawnFrom });
  const latest = useRef({ workflow, editor, dragged, onOpen });
  latest.current = { workflow, editor, dragged, onOpen };
  const changeNodes = useCallback(
    (changes: NodeChange<TaskFlowNode>[]) => applyChanges(changes, { ...latest.current, setDragged }),
    [],
  );
  const isValid = useCallback(
    (drawn: Connection | Edge) => {
      const fault = findEdgeFault(latest.current.workflow, drawn.source, drawn.target);
      setRefusal(fault?.message ?? '');
      return fault === undefined;
    },
    [setRefusal],
  );
  const connect = useCallback(({ source, target }: Connection) => {
    latest.current.editor?.apply({ kind: 'AddEdge', from: source, to: target });
  }, []);
  const startDrawing = useCallback(
    (_: unknown, { nodeId }: { nodeId: string | null }) => setDrawnFrom(nodeId ?? ''),
    [],
  );
  const endDrawing = useCallback(() => setDrawnFrom(''), []);
  const press = usePanePress(latest);
  const fit = useFitting(fitting, workflow.tasks);
  const isEdited = editor !== undefined;
  const fault = isEdited ? analysis.fault : undefined;
  return (
    <ReactFlow
      nodes={nodes}
      edges={noEdges}
      nodeTypes={nodeTypes}
      onNodesChange={changeNodes}
      minZoom={zoomMin}
      maxZoom={2}
      onConnect={connect}
      onConnectStart={startDrawing}
      onConnectEnd={endDrawing}
      isValidConnection={isValid}
      connectionRadius={28}
      deleteKeyCode={null}
      nodesDraggable={isEdited}
      nodesConnectable={isEdited}
      elementsSelectable={isEdited || onOpen !== undefined}
      onNodeClick={useCallback((_: MouseEvent, { id }: TaskFlowNode) => latest.current.onOpen?.(id), [])}
      onPaneClick={press}
      multiSelectionKeyCode={multiSelectionKeys}
      selectionKeyCode="Shift"
      zoomOnDoubleClick={false}
      preventScrolling={isEdited}
      proOptions={withoutAttribution}
    >
      <Background variant={BackgroundVariant.Dots} gap={24} size={1} />
      <GraphLines edges={edges} boxes={boxes} />
      <Controls showInteractive={false} showFitView={false}>
        <ControlButton onClick={fit} title="Show the whole graph" aria-label="Show the whole graph">
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <path d="M1 6V1h5M10 1h5v5M15 10v5h-5M6 15H1v-5" fill="none" stroke="currentColor" strokeWidth="2" />
          </svg>
        </ControlButton>
      </Controls>
      {workflow.tasks.length > 12 ? (
        <Overview tasks={workflow.tasks} statuses={statuses} criticalPath={analysis.criticalPath} />
      ) : null}
      {refusal === '' && fault === undefined ? null : (
        <p className="flow-refusal" role="alert">
          {refusal === '' ? `This cannot run: ${fault}.` : refusal}
        </p>
      )}
    </ReactFlow>
  );
}

// The graph library compares what it is given by identity.
const multiSelectionKeys = ['Shift', 'Control', 'Meta'];
const withoutAttribution = { hideAttribution: true };

interface DrawingSpec {
  readonly analysis: WorkflowAnalysis;
  readonly statuses: ReadonlyMap<string, string>;
  readonly dragged: Places;
  readonly selectedTasks: Selection['tasks'];
  readonly selectedEdges: Selection['edges'];
  /** The task from which an edge is being drawn; empty where none is. */
  readonly drawnFrom: string;
}

function useDrawing(
  workflow: Workflow,
  { analysis, statuses, dragged, selectedTasks, selectedEdges, drawnFrom }: DrawingSpec,
): {
  readonly nodes: TaskFlowNode[];
  readonly boxes: ReadonlyMap<string, string>;
  readonly edges: ReturnType<typeof edgePaths>;
} {
  const parts = useRef(new FlowParts());
  const area = useArea();
  const { tasks } = workflow;
  const inSight = useMemo(() => tasksIn(tasks, area), [tasks, area]);
  const isFar = inSight.length > readableMax;
  const shown = useMemo(
    () => withKept(isFar ? [] : inSight, tasks, new Set([...selectedTasks, ...dragged.keys(), drawnFrom])),
    [isFar, inSight, tasks, selectedTasks, dragged, drawnFrom],
  );
  const view = { analysis, statuses, dragged, selectedTasks };
  const nodes = useMemo(
    () => parts.current.nodesOf(shown, view) as TaskFlowNode[],
    [shown, analysis, statuses, dragged, selectedTasks],
  );
  const boxes = useMemo(
    () => (isFar ? boxPaths(inSight, view) : noBoxes),
    [isFar, inSight, analysis, statuses, dragged],
  );
  const edges = useMemo(
    () => edgePaths(workflow, getEdgeView(area, { analysis, dragged, selectedEdges })),
    [workflow.tasks, workflow.edges, area, analysis.criticalPath, dragged, selectedEdges],
  );
  return { nodes, boxes, edges };
}

function getEdgeView(
  area: Area,
  { analysis, dragged, selectedEdges }: Pick<DrawingSpec, 'analysis' | 'dragged' | 'selectedEdges'>,
): Parameters<typeof edgePaths>[1] {
  return { area, dragged, critical: criticalParts(analysis.criticalPath).edges, selected: selectedEdges };
}

/** What is selected or held stays with the graph library though it is out of sight: it moves such boxes together. */
function withKept(
  shown: readonly WorkflowTask[],
  tasks: Workflow['tasks'],
  kept: ReadonlySet<string>,
): readonly WorkflowTask[] {
  const ids = new Set(shown.map(({ id }) => id));
  const known = tasksById(tasks);
  const others = [...kept].flatMap((id) => {
    const task = ids.has(id) ? undefined : known.get(id);
    return task === undefined ? [] : [task];
  });
  return others.length === 0 ? shown : [...shown, ...others];
}

/** What is being said of an edge that is drawn, for some seconds. */
function useRefusal(): [string, (message: string) => void] {
  const [refusal, setRefusal] = useState('');
  useEffect(() => {
    const timer = refusal === '' ? undefined : setTimeout(() => setRefusal(''), 6000);
    return () => clearTimeout(timer);
  }, [refusal]);
  return [refusal, setRefusal];
}

interface Latest {
  readonly workflow: Workflow;
  readonly editor: Editor | undefined;
  readonly dragged: Places;
  readonly onOpen: ((id: string) => void) | undefined;
}

/**
 * Handles a press outside all boxes: on a task that is drawn too small to be a box, on the line of an edge, or on
 * neither, which selects nothing.
 */
function usePanePress(latest: { readonly current: Latest }): (event: MouseEvent) => void {
  const { screenToFlowPosition, getZoom } = useReactFlow();
  return useCallback(
    (event) => {
      const { workflow, editor, onOpen } = latest.current;
      const point = screenToFlowPosition({ x: event.clientX, y: event.clientY });
      const task = tasksIn(workflow.tasks, { left: point.x, right: point.x, top: point.y, bottom: point.y }).at(-1);
      if (task !== undefined && editor === undefined) onOpen?.(task.id);
      if (editor === undefined) return;
      const edge = task === undefined ? findEdgeAt(workflow, point, reachOfPress / getZoom()) : undefined;
      const adds = event.shiftKey || event.ctrlKey || event.metaKey;
      const pressed: Selection = {
        tasks: new Set(task === undefined ? [] : [task.id]),
        edges: new Set(edge === undefined ? [] : [edgeId(edge.from, edge.to)]),
      };
      editor.select((old) =>
        adds
          ? { tasks: new Set([...old.tasks, ...pressed.tasks]), edges: new Set([...old.edges, ...pressed.edges]) }
          : isNothing(pressed) && isNothing(old)
            ? old
            : pressed,
      );
    },
    [latest, screenToFlowPosition, getZoom],
  );
}

function isNothing({ tasks, edges }: Selection): boolean {
  return tasks.size + edges.size === 0;
}

function applyChanges(
  changes: readonly NodeChange<TaskFlowNode>[],
  { editor, dragged, setDragged }: Latest & { readonly setDragged: (places: Places) => void },
): void {
  if (editor === undefined) return;
  const moves = changes.filter((change) => change.type === 'position');
  const places = new Map([
    ...dragged,
    ...moves.flatMap(({ id, position }) => (position === undefined ? [] : [[id, position] as const])),
  ]);
  if (moves.some(({ dragging }) => dragging === true)) setDragged(places);
  else if (moves.length > 0) {
    setDragged(noPlaces);
    const rounded = [...places].map(([id, { x, y }]) => [id, { x: Math.round(x), y: Math.round(y) }] as const);
    if (rounded.length > 0)
      editor.apply({ kind: 'MoveTasks', places: new Map(rounded) }, dragged.size === 0 ? 'arrow keys' : '');
  }
  if (changes.some(({ type }) => type === 'select')) editor.select((old) => selectedAfter(changes, old));
}

/** A box that is selected by itself leaves no edge selected. */
function selectedAfter(changes: readonly NodeChange<TaskFlowNode>[], old: Selection): Selection {
  const tasks = new Set(old.tasks);
  for (const change of changes) {
    if (change.type !== 'select') continue;
    if (change.selected) tasks.add(change.id);
    else tasks.delete(change.id);
  }
  return { tasks, edges: tasks.size === 1 ? nothingSelected.edges : old.edges };
}
