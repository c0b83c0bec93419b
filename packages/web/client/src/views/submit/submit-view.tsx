import type { ReactNode } from 'react';
import { useDraft } from '../../page-context.tsx';
import { BagForm } from './bag-form.tsx';
import { JdfForm } from './jdf-form.tsx';

/** Submits by hand: a bag by a form, or a job file. */
export function SubmitView(): ReactNode {
  const [kind, setKind] = useDraft<'bag' | 'jdf'>('submit-kind', 'bag');
  return (
    <div className="view submit">
      <div className="row whole">
        <h1>Submit</h1>
        <div className="choice" role="group" aria-label="What to submit">
          <button type="button" aria-pressed={kind === 'bag'} onClick={() => setKind('bag')}>
            A bag of tasks
          </button>
          <button type="button" aria-pressed={kind === 'jdf'} onClick={() => setKind('jdf')}>
            A job file (JDF)
          </button>
        </div>
      </div>
      {kind === 'bag' ? <BagForm /> : <JdfForm />}
    </div>
  );
}
