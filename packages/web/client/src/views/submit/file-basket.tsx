import { useCallback, useEffect, useRef, useState, type ReactNode } from 'react';
import { refuseFiles, type DroppedFile } from '../../model/bag-draft.ts';
import { sayBytes } from '../../model/words.ts';
import { useAnswer, usePage } from '../../page-context.tsx';

/** Files that were dropped on the page. */
export interface Basket {
  readonly files: readonly DroppedFile[];
  /** Those that are tables, with their text. */
  readonly tables: readonly { readonly name: string; readonly text: string }[];
  readonly add: (files: readonly File[]) => void;
  readonly remove: (name: string) => void;
  readonly clear: () => void;
}

// They are too large for what a tab may keep, and outlive a look at another view here.
const kept: { files: readonly DroppedFile[]; tables: Basket['tables'] } = { files: [], tables: [] };
const tableBytesMax = 8_000_000;

export function useBasket(): Basket {
  const { say } = usePage();
  const session = useAnswer('getSession', {});
  // Room for the rest of the request.
  const bytesMax = (session.value?.body_bytes_max ?? 32 * 1024 * 1024) - 9_000_000;
  const [state, setState] = useState(kept);
  const change = useCallback((next: typeof kept) => {
    Object.assign(kept, next);
    setState({ ...next });
  }, []);
  const take = async (dropped: readonly File[]): Promise<void> => {
    const large = dropped.find(({ size }) => size * 1.4 > bytesMax);
    if (large !== undefined)
      throw new Error(
        `${large.name} has ${sayBytes(large.size)}, which is too much for the page; name it with "put" instead.`,
      );
    const files = [...kept.files, ...(await Promise.all(dropped.map(readFile)))];
    const refusal = refuseFiles(files, bytesMax);
    if (refusal !== undefined) throw new Error(refusal);
    const tables = await Promise.all(
      dropped
        .filter(({ name, size }) => /\.csv$/i.test(name) && size < tableBytesMax)
        .map(async (file) => ({ name: file.name, text: await file.text() })),
    );
    change({ files, tables: [...kept.tables, ...tables] });
  };
  return {
    ...state,
    add: (dropped) => {
      take(dropped).catch((error: unknown) => say(error instanceof Error ? error.message : String(error), true));
    },
    remove: (name) =>
      change({
        files: kept.files.filter((file) => file.name !== name),
        tables: kept.tables.filter((table) => table.name !== name),
      }),
    clear: () => change({ files: [], tables: [] }),
  };
}

async function readFile(file: File): Promise<DroppedFile> {
  const address = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(new Error(`${file.name} cannot be read; folders cannot be dropped.`));
    reader.readAsDataURL(file);
  });
  return { name: file.name, content_base64: address.slice(address.indexOf(',') + 1) };
}

/** Where files are dropped, or chosen; each task gets them in its playpen. */
export function FileBasket({ basket }: { readonly basket: Basket }): ReactNode {
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setIsOver] = useState(false);
  const { add } = basket;
  const latest = useRef(add);
  latest.current = add;
  useEffect(() => {
    const over = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes('Files') === true) {
        event.preventDefault();
        setIsOver(true);
      }
    };
    const leave = (event: DragEvent): void => {
      if (event.relatedTarget === null) setIsOver(false);
    };
    const drop = (event: DragEvent): void => {
      event.preventDefault();
      setIsOver(false);
      latest.current([...(event.dataTransfer?.files ?? [])]);
    };
    window.addEventListener('dragover', over);
    window.addEventListener('dragleave', leave);
    window.addEventListener('drop', drop);
    return () => {
      window.removeEventListener('dragover', over);
      window.removeEventListener('dragleave', leave);
      window.removeEventListener('drop', drop);
    };
  }, []);
  return (
    <div className={`basket${isOver ? ' over' : ''}`}>
      <p>
        Drop files on the page, or{' '}
        <button type="button" className="link" onClick={() => input.current?.click()}>
          choose some
        </button>
        : each task gets them in its own folder.
      </p>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files of the tasks"
        onChange={(event) => {
          add([...(event.target.files ?? [])]);
          event.target.value = '';
        }}
      />
      {basket.files.length === 0 ? null : (
        <ul className="chips">
          {basket.files.map(({ name, content_base64: content }) => (
            <li key={name}>
              {name} <span className="faint">{sayBytes(content.length * 0.75)}</span>
              <button
                type="button"
                className="quiet small"
                onClick={() => basket.remove(name)}
                aria-label={`Remove ${name}`}
              >
                ✕
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
