import {
  useImperativeHandle,
  useMemo,
  useRef,
  useState,
  type DragEvent,
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
  /** Of the list that tells of the marks. */
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
  const [isOver, setIsOver] = useState(false);
  const [cursorLine, setCursorLine] = useState(1);
  const [tip, setTip] = useTip();
  const [frame, width] = useWidth();
  const pieces = useMemo(() => markText(text, marks), [text, marks]);
  const wrong = useMemo(() => new Map(marks.toReversed().map(({ line, severity }) => [line, severity])), [marks]);
  const lineCount = useMemo(() => text.split('\n').length, [text]);
  const scroll = (): void => {
    const { scrollTop: top, scrollLeft: left } = area.current ?? { scrollTop: 0, scrollLeft: 0 };
    behind.current?.scrollTo({ top, left });
    gutter.current?.scrollTo({ top });
  };
  const goTo = (mark: TextMark): void => {
    const field = area.current;
    if (field === null) return;
    const start = Math.min(text.length, (lineStart(text, mark.line) ?? 0) + Math.max(0, mark.column - 1));
    field.focus();
    field.setSelectionRange(start, Math.min(text.length, start + 1));
    setCursorLine(mark.line);
    // Browsers show the cursor of a field that got the focus, not one that is set while it has it.
    field.scrollTop = Math.max(0, (mark.line - 5) * Number.parseFloat(getComputedStyle(field).lineHeight));
    const shown =
      behind.current?.querySelectorAll('mark')[
        pieces.filter((piece) => piece.mark !== undefined).findIndex((piece) => piece.mark === mark)
      ];
    field.scrollLeft = shown === undefined ? 0 : Math.max(0, shown.offsetLeft - field.clientWidth / 2);
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
  const drop = (event: DragEvent): void => {
    if (event.dataTransfer.files.length === 0) return;
    event.preventDefault();
    setIsOver(false);
    onDrop(event.dataTransfer.files[0]);
  };
  return (
    <>
      <div
        ref={frame}
        className={`marked${isOver ? ' over' : ''}`}
        onDragOver={(event) => {
          event.preventDefault();
          setIsOver(true);
        }}
        onDragLeave={() => setIsOver(false)}
        onDrop={drop}
      >
        <div className="gutter" ref={gutter} aria-hidden="true">
          {Array.from({ length: Math.min(lineCount, numberedMax) }, (_, index) => (
            <span key={index} className={wrong.get(index + 1) ?? ''}>
              {index + 1}
            </span>
          ))}
        </div>
        <div className="behind" ref={behind} aria-hidden="true">
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
