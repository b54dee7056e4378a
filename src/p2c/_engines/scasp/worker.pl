% Keeps s(CASP) warm: each line read is a question, and a fork of this process, in which nothing was ever asked, answers it
% through the main program of s(CASP) itself. Ends, with whatever it is answering, when its input closes.

:- module(p2c_worker, [serve/0]).
:- use_module(library(unix)).
:- use_module(library(readutil)).

serve :-
    set_prolog_gc_thread(false),        % a process with several threads cannot be forked
    say(ready),
    answer_all,
    halt(0).

answer_all :-
    read_line_to_string(user_input, Line),
    (   Line == end_of_file
    ->  true
    ;   term_string(ask(Out, Complaint, Arguments), Line),
        answer(Out, Complaint, Arguments),
        answer_all
    ).

% The fork holds one end of a pipe, so that its end and that of our input can be waited for together.
answer(Out, Complaint, Arguments) :-
    pipe(Over, Held),
    fork(Process),
    (   Process == child
    ->  solve(Out, Complaint, Arguments)
    ;   close(Held),
        wait_for_input([Over, user_input], Ready, infinite),
        (   memberchk(user_input, Ready)
        ->  kill(Process, kill)
        ;   true
        ),
        wait(Process, Status),
        close(Over),
        say(Status)
    ).

solve(Out, Complaint, Arguments) :-
    redirect(user_input, '/dev/null', read),
    redirect(user_output, Out, write),
    redirect(user_error, Complaint, write),
    (   scasp_main:main(Arguments)
    ->  halt(0)
    ;   halt(1)
    ).

redirect(Stream, File, Mode) :-
    open(File, Mode, Opened),
    dup(Opened, Stream),
    close(Opened).

say(Term) :-
    format("~q~n", [Term]),
    flush_output.
