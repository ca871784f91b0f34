package main

const helpMan = `usage: zkrecipes man [VERB]
       zkrecipes man --dir DIR

Prints a manual page, in the format of man(1): that of a verb, or without one an overview. It is the text of
"zkrecipes help VERB".

  --dir DIR    write all pages into DIR, which is made if it does not exist: zkrecipes.1, zkrecipes-run.1 and
               so on

The date and the version in a page are those of the commit that zkrecipes was built from: builds of one commit
write the same pages.

Exit codes: 0; 64 usage; 69 a file cannot be written.

Examples:
  Read a page:
      zkrecipes man run | man -l -
  Install all pages, for "man zkrecipes-run":
      zkrecipes man --dir /usr/local/share/man/man1
`
