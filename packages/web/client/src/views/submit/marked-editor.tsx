import { useMemo, useRef, useState, type DragEvent, type ReactNode, type RefObject } from 'react';
import { markText, type TextMark } from '../../model/marked-text.ts';

/** A field of text with numbered lines, in which places are marked: the field is transparent and the same text with its marks lies behind it. */
export function MarkedEditor({ area, text, marks, onChange, onDrop }: { readonly area: RefObject<HTMLTextAreaElement | null>; readonly text: string; readonly marks: readonly TextMark[]; readonly onChange: (text: string) => void; readonly onDrop: (file: File | undefined) => void }): ReactNode {
  const behind = useRef<HTMLDivElement>(null);
  const [isOver, setIsOver] = useState(false);
  const pieces = useMemo(() => markText(text, marks), [text, marks]);
  const wrong = useMemo(() => new Map(marks.map(({ line, severity }) => [line, severity])), [marks]);
  const lineCount = useMemo(() => text.split('\n').length, [text]);
  const scroll = (): void => {
    if (behind.current === null || area.current === null) return;
    behind.current.scrollTop = area.current.scrollTop;
    behind.current.scrollLeft = area.current.scrollLeft;
    const gutter = behind.current.parentElement?.querySelector('.gutter');
    if (gutter instanceof HTMLElement) gutter.scrollTop = area.current.scrollTop;
  };
  const drop = (event: DragEvent): void => {
    if (event.dataTransfer.files.length === 0) return;
    event.preventDefault();
    setIsOver(false);
    onDrop(event.dataTransfer.files[0]);
  };
  return (
    <div className={`marked${isOver ? ' over' : ''}`} onDragOver={(event) => { event.preventDefault(); setIsOver(true); }} onDragLeave={() => setIsOver(false)} onDrop={drop}>
      <div className="gutter" aria-hidden="true">{Array.from({ length: Math.min(lineCount, 20_000) }, (_, index) => <span key={index} className={wrong.get(index + 1) ?? ''}>{index + 1}</span>)}</div>
      <div className="behind" ref={behind} aria-hidden="true">{pieces.map((piece, index) => (piece.mark === undefined ? piece.text : <mark key={index} className={piece.mark.severity}>{piece.text}</mark>))}{'\n'}</div>
      <textarea ref={area} className="code" aria-label="Job file in JDF" spellCheck={false} wrap="off" value={text} aria-invalid={marks.some(({ severity }) => severity === 'error')} onChange={(event) => onChange(event.target.value)} onScroll={scroll} />
    </div>
  );
}
