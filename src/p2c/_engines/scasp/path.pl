% From here on the program is the same for every problem: the paper's algorithms, which backtracking runs.
%
% now(State, Visited, Taken, Depth, Budget): where a path is. Visited are its states, newest first; Taken says which
% direct actions are spent; Depth and Budget are how many of them and how much effort are left. Both are bounds that
% the query sets: the depth grows until there is a path, then the budget shrinks until there is none.

plan(Depth, Most, Budget, Path) :-
    start(State),
    find_path(now(State, [State], [], Depth, Budget), Path).
plan(Depth, Most, Budget, Path) :-
    Depth < Most,
    Deeper is Depth + 1,
    plan(Deeper, Most, Budget, Path).

% find_path: intervene until the state is a counterfactual.
find_path(Now, []) :-
    is_counterfactual(Now).
find_path(Now, Path) :-
    intervene(Now, Next, Path, Rest),
    find_path(Next, Rest).

is_counterfactual(now(State, Visited, Taken, Depth, Budget)) :-
    consistent(State),
    goal(State).

% intervene: an action in a consistent state, then whatever makes the state consistent again.
intervene(Now, Next, [Action|Path], Rest) :-
    act_directly(Now, Between, Action),
    make_consistent(Between, Next, Path, Rest).
intervene(Now, Next, [Action|Path], Rest) :-
    act_on_support(Now, Between, Action),
    make_consistent(Between, Next, Path, Rest).

% make_consistent: causal actions while there are any; where there is none, another direct action.
make_consistent(Now, Now, Path, Path) :-
    now_consistent(Now).
make_consistent(Now, Next, [Action|Path], Rest) :-
    act_causally(Now, Between, Action),
    make_consistent(Between, Next, Path, Rest).
make_consistent(Now, Next, [Action|Path], Rest) :-
    stuck(Now),
    act_directly(Now, Between, Action),
    make_consistent(Between, Next, Path, Rest).

now_consistent(now(State, Visited, Taken, Depth, Budget)) :-
    consistent(State).
stuck(now(State, Visited, Taken, Depth, Budget)) :-
    inconsistent(State),
    nothing_follows(State).

% update: the action that is taken, the state it leads to, what is spent. No state is visited twice.
act_directly(now(State, Visited, Taken, Depth, Budget),
             now(New, [New|Visited], [Mark|Taken], Fewer, Less),
             do(Feature, From, To)) :-
    Depth > 0,
    direct_action(State, New, Feature, From, To, Price),
    Price =< Budget,
    bars(Feature, To, Bar),
    not_member(Bar, Taken),
    not_member(New, Visited),
    marks(Feature, From, Mark),
    Fewer is Depth - 1,
    Less is Budget - Price.
act_causally(now(State, Visited, Taken, Depth, Budget),
             now(New, [New|Visited], Taken, Depth, Budget),
             then(Feature, From, To)) :-
    inconsistent(State),
    causal_action(State, New, Feature, From, To),
    not_member(New, Visited).
act_on_support(now(State, Visited, Taken, Depth, Budget),
               now(New, [New|Visited], Taken, Depth, Budget),
               then(Feature, From, To)) :-
    supported_action(State, New, Feature, From, To),
    not_member(New, Visited).

not_member(Item, []).
not_member(Item, [Other|Rest]) :-
    Item \= Other,
    not_member(Item, Rest).

% The nearest value that fits: the first group, nearest first, that has one. What fits is said for each feature.
first_fit([Group|Groups], What, State, Value) :-
    some_fit(Group, What, State, Value).
first_fit([Group|Groups], What, State, Value) :-
    none_fit(Group, What, State),
    first_fit(Groups, What, State, Value).
some_fit([Value|Values], What, State, Value) :-
    fits(What, State, Value).
some_fit([Other|Values], What, State, Value) :-
    some_fit(Values, What, State, Value).
none_fit([], What, State).
none_fit([Value|Values], What, State) :-
    fits_not(What, State, Value),
    none_fit(Values, What, State).
none_fit_at_all([], What, State).
none_fit_at_all([Group|Groups], What, State) :-
    none_fit(Group, What, State),
    none_fit_at_all(Groups, What, State).
