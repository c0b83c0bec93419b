import { useEffect, useState } from 'react';
import { darkLook, lightLook, type ChartLook } from '../charts/look.ts';

const spec = '(prefers-color-scheme: dark)';

/** The colours of the page as they are now: what was chosen on it, else what the system prefers. */
export function useLook(): ChartLook {
  const [look, setLook] = useState(currentLook);
  useEffect(() => {
    const change = (): void => setLook(currentLook());
    const dark = window.matchMedia(spec);
    dark.addEventListener('change', change);
    window.addEventListener('mutirao-theme', change);
    change();
    return () => {
      dark.removeEventListener('change', change);
      window.removeEventListener('mutirao-theme', change);
    };
  }, []);
  return look;
}

function currentLook(): ChartLook {
  const chosen = document.documentElement.dataset.theme;
  return (chosen ?? (window.matchMedia(spec).matches ? 'dark' : 'light')) === 'dark' ? darkLook : lightLook;
}
