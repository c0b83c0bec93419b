import {
  useImperativeHandle,
  useMemo,
  useRef,
  useState,
  type DOMAttributes,
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  type Ref,
} from 'react';
import {
  lineAt,
  lineStart,
  markBeside,
  markText,
  sayMark,
  type TextMark,
  type TextPiece,
} from '../../model/marked-text.ts';
import { TipBox } from '../../parts/tip.tsx';
import { useTip } from '../../parts/tip-state.ts';
import { useWidth } from '../../parts/use-width.ts';

/** Numbered lines at most; beyond them the text alone is shown. */
const numberedMax = 20_000;

/** What others may do with an editor. */
export interface EditorHandle {
  /** Moves the cursor to what is marked, and into sight. */
  readonly goTo: (mark: TextMark) => void;
}

interface EditorParts {
  readonly handle: Ref<EditorHandle>;
  readonly text: string;
  readonly marks: readonly TextMark[];
  /** The id of the list that describes the marks. */
  readonly describedBy: string;
  readonly onChange: (text: string) => void;
  readonly onDrop: (file: File | undefined) => void;
}

/**
 * A field of text with numbered lines, in which places are marked: the field is transparent and the same text with its
 * marks lies behind it. F8 leads to the next mark, with Shift to the one before.
 */
export function MarkedEditor({ handle, text, marks, describedBy, onChange, onDrop }: EditorParts): ReactNode {
  const area = useRef<HTMLTextAreaElement>(null);
  const behind = useRef<HTMLDivElement>(null);
  const gutter = useRef<HTMLDivElement>(null);
  const [cursorLine, setCursorLine] = useState(1);
  const [tip, setTip] = useTip();
  const [frame, width] = useWidth();
  const pieces = useMemo(() => markText(text, marks), [text, marks]);
  const lineCount = useMemo(() => text.split('\n').length, [text]);
  const scroll = (): void => {
    const { scrollTop: top, scrollLeft: left } = area.current ?? { scrollTop: 0, scrollLeft: 0 };
    behind.current?.scrollTo({ top, left });
    gutter.current?.scrollTo({ top });
  };
  const goTo = (mark: TextMark): void => {
    if (area.current === null) return;
    selectMark(area.current, text, mark);
    setCursorLine(mark.line);
    const shown =
      behind.current?.querySelectorAll('mark')[
        pieces.filter((piece) => piece.mark !== undefined).findIndex((piece) => piece.mark === mark)
      ];
    area.current.scrollLeft = shown === undefined ? 0 : Math.max(0, shown.offsetLeft - area.current.clientWidth / 2);
    scroll();
  };
  useImperativeHandle(handle, () => ({ goTo }));
  const press = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    const next =
      event.key === 'F8'
        ? markBeside(text, marks, { at: event.currentTarget.selectionStart, isForward: !event.shiftKey })
        : undefined;
    if (next === undefined) return;
    event.preventDefault();
    goTo(next);
  };
  const point = ({ clientX, clientY, currentTarget }: MouseEvent<HTMLTextAreaElement>): void => {
    const box = currentTarget.parentElement?.getBoundingClientRect();
    const mark = behind.current === null ? undefined : markUnder(behind.current, pieces, [clientX, clientY]);
    setTip(
      mark === undefined || box === undefined
        ? undefined
        : { x: clientX - box.left, y: clientY - box.top, text: sayMark(mark) },
    );
  };
  const [isOver, dropTarget] = useDropTarget(onDrop);
  return (
    <>
      <div ref={frame} className={`marked${isOver ? ' over' : ''}`} {...dropTarget}>
        <Gutter box={gutter} lineCount={lineCount} marks={marks} />
        <MarkedText box={behind} pieces={pieces} />
        <textarea
          ref={area}
          className="code"
          aria-label="Job file in JDF"
          aria-describedby={describedBy}
          spellCheck={false}
          wrap="off"
          value={text}
          aria-invalid={marks.some(({ severity }) => severity === 'error')}
          onChange={(event) => onChange(event.target.value)}
          onScroll={scroll}
          onKeyDown={press}
          onSelect={(event) => setCursorLine(lineAt(text, event.currentTarget.selectionStart))}
          onMouseMove={point}
          onMouseLeave={() => setTip(undefined)}
        />
        <TipBox tip={tip} width={width} />
      </div>
      <AtCursor marks={marks} line={cursorLine} lineCount={lineCount} />
    </>
  );
}

/** Whether a file hovers over an element, and the listeners that the element needs to take it. */
function useDropTarget(
  onDrop: (file: File | undefined) => void,
): readonly [boolean, Pick<DOMAttributes<HTMLElement>, 'onDragOver' | 'onDragLeave' | 'onDrop'>] {
  const [isOver, setIsOver] = useState(false);
  return [
    isOver,
    {
      onDragOver: (event) => {
        event.preventDefault();
        setIsOver(true);
      },
      onDragLeave: () => setIsOver(false),
      onDrop: (event) => {
        if (event.dataTransfer.files.length === 0) return;
        event.preventDefault();
        setIsOver(false);
        onDrop(event.dataTransfer.files[0]);
      },
    },
  ];
}

/** Puts the cursor at a mark, and its line near the top. */
function selectMark(field: HTMLTextAreaElement, text: string, { line, column }: TextMark): void {
  const start = Math.min(text.length, (lineStart(text, line) ?? 0) + Math.max(0, column - 1));
  field.focus();
  field.setSelectionRange(start, Math.min(text.length, start + 1));
  // Browsers show the cursor of a field that got the focus, not one that is set while it has it.
  field.scrollTop = Math.max(0, (line - 5) * Number.parseFloat(getComputedStyle(field).lineHeight));
}

/** The numbers of the lines, those with a mark in its colour. */
function Gutter({
  box,
  lineCount,
  marks,
}: {
  readonly box: Ref<HTMLDivElement>;
  readonly lineCount: number;
  readonly marks: readonly TextMark[];
}): ReactNode {
  const wrong = useMemo(() => new Map(marks.toReversed().map(({ line, severity }) => [line, severity])), [marks]);
  return (
    <div className="gutter" ref={box} aria-hidden="true">
      {Array.from({ length: Math.min(lineCount, numberedMax) }, (_, index) => (
        <span key={index} className={wrong.get(index + 1) ?? ''}>
          {index + 1}
        </span>
      ))}
    </div>
  );
}

/** The text behind the field, which carries the marks. */
function MarkedText({
  box,
  pieces,
}: {
  readonly box: Ref<HTMLDivElement>;
  readonly pieces: readonly TextPiece[];
}): ReactNode {
  return (
    <div className="behind" ref={box} aria-hidden="true">
      {pieces.map((piece, index) =>
        piece.mark === undefined ? (
          piece.text
        ) : (
          <mark key={index} className={piece.mark.severity}>
            {piece.text}
          </mark>
        ),
      )}
      {'\n'}
    </div>
  );
}

/** The mark whose piece of the text behind the field is under the pointer. */
function markUnder(
  behind: HTMLElement,
  pieces: readonly TextPiece[],
  [x, y]: readonly [number, number],
): TextMark | undefined {
  const shown = [...behind.querySelectorAll('mark')];
  const under = document.elementsFromPoint(x, y);
  const index = shown.findIndex((one) => under.includes(one));
  return pieces.filter((piece) => piece.mark !== undefined)[index]?.mark;
}

/** What is said of the line with the cursor. */
function AtCursor({
  marks,
  line,
  lineCount,
}: {
  readonly marks: readonly TextMark[];
  readonly line: number;
  readonly lineCount: number;
}): ReactNode {
  const here = marks.filter((mark) => mark.line === line);
  return (
    <div className="at-cursor" aria-live="polite">
      {here.length === 0 ? (
        <p className="faint">
          Line {line} of {lineCount}
          {marks.length > 0 ? '; F8 leads to the next mark' : ''}
        </p>
      ) : (
        here.map((mark, index) => (
          <p key={index} className={mark.severity}>
            Line {mark.line}, column {mark.column}: {sayMark(mark)}
          </p>
        ))
      )}
    </div>
  );
}
