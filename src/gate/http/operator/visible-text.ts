/** Texts that operators write and others read. */
import * as z from 'zod';

/** Controls and line separators would break a mail or a log; direction marks would make a text look like another. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** So many characters, one of them visible, and none that cannot be seen. */
export const visibleText = (min: number, max: number) =>
  z.string().refine(
    (text) => {
      const { length } = [...text];
      return /\S/.test(text) && !UNSEEN.test(text) && length >= min && length <= max;
    },
    { error: `must have ${min} to ${max} characters and no invisible ones` },
  );
