/** Documents about back-ups of a home folder. */
export const backupShapes = {
  backup: {
    folder: ['string', 'Where the back-up is.'],
    made_unix_ms: ['integer', 'When it was made.'],
    files: ['integer', 'Files in it.'],
    bytes: ['integer', 'Their sizes together.'],
    journals: [
      'array of object',
      'Its journals: `path` below the home folder, and `last_change`, the number of the last change in it.',
    ],
    replaced_folder: [
      'string or null',
      'Where that is now which "restore --replace" has moved aside; null where nothing was.',
    ],
  },
} as const;
