/** Files of results that were gathered. */
export const gatheredShapes = {
  gathered_output: {
    task_index: ['integer', 'The task.'],
    replica_id: ['integer', 'The replica whose file it is.'],
    path: ['string', 'What it is called in the volume: from the home directory of the job on.'],
    volume: ['string', 'The tar archive that holds it.'],
    offset_bytes: ['integer', 'Where its bytes begin there.'],
    size_bytes: ['integer', 'Its size.'],
    mode: ['string', 'Permission bits in octal digits.'],
    sha256: ['string', 'Its hash, in hexadecimal digits.'],
    extracted_path: ['string or null', 'Where it was written to; null without `--extract`.'],
  },
} as const;
